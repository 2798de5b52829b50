/**
 * `--config-yaml` as `/server_info` may show it: as it was given, unless it holds what the API marks as
 * sensitive; then as JSON without that.
 */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { runPipeline } from '../../config/pipeline.ts';
import type { MessageTypes } from '../message-types.ts';
import { redact } from './redact.ts';

const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';

/** The option never changes while a server runs, and reading it takes a while. */
let known: { readonly given: string; readonly shown: string } | undefined;

export async function redactConfigYaml(types: MessageTypes, given: string): Promise<string> {
  if (given === '') return given;
  if (known?.given !== given) known = { given, shown: await withoutSecrets(types, given) };
  return known.shown;
}

async function withoutSecrets(types: MessageTypes, given: string): Promise<string> {
  const source = { name: '--config-yaml', format: 'yaml', content: Buffer.from(given) } as const;
  const result = await runPipeline(BOOTSTRAP, [source], { unknownFields: 'ignore' });
  const message = result.message as unknown as JsonObject;
  const clean = redact(types, BOOTSTRAP, message);
  return clean === message ? given : JSON.stringify(clean);
}
