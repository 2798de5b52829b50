/**
 * Parts of dynamic configuration as tests of one of them need them: with all clusters known, and
 * silent.
 */
import { ApiCatalog } from '../../../supervisor/config/api/api-catalog.ts';
import { ResourceResolver } from '../../../supervisor/xds/kinds/resource-resolver.ts';

export const DECODING = {
  unknownFields: 'warn',
  catalog: new ApiCatalog(),
  runtime: () => ({}),
  scriptFolders: [],
  onWarnings: () => undefined,
} as const;

/** An answer as a file or a response has it. */
export function answerSource(answer: object): {
  readonly name: string;
  readonly format: 'json';
  readonly content: Buffer;
} {
  return { name: 'test', format: 'json', content: Buffer.from(JSON.stringify(answer)) };
}

export function testResolver(): ResourceResolver {
  return new ResourceResolver({
    bootstrap: {},
    rules: { maxRegexProgramSize: 100, disabledExtensions: new Set() },
    isKnownCluster: () => true,
    isStaticCluster: () => true,
    warn: () => undefined,
  });
}
