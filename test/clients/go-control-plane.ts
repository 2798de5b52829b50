/** go-control-plane's types decode every JSON page, unknown fields refused. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { startSluice } from '../support/sluice.ts';
import { CONFIGURATION, MINUTES_MS, hasGo, outcomeOf, withoutGo } from './outcome.ts';
import type { Outcome } from './outcome.ts';

const SOURCE = join(import.meta.dirname, '../../../test/clients/go-control-plane');

/** Strict decoding of every JSON page with go-control-plane's types. */
export async function decodeWithGo(): Promise<Outcome> {
  const client = 'go-control-plane types';
  if (!hasGo()) return withoutGo(client);
  await using sluice = await startSluice({ bootstrap: CONFIGURATION });
  const run = spawnSync('go', ['run', '.', `127.0.0.1:${sluice.adminPort}`], {
    cwd: SOURCE,
    encoding: 'utf8',
    timeout: 10 * MINUTES_MS,
  });
  return outcomeOf(client, run.status === 0, run.stdout + run.stderr);
}
