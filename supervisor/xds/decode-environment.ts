/** What the decoding of messages from elsewhere needs of the server, and tells it. */
import { getLogger } from '../../shared/logging/process-log.ts';
import type { RuntimeSnapshot } from '../../shared/resources/runtime.ts';
import { ApiCatalog } from '../config/api/api-catalog.ts';
import { formatProblem } from '../config/config-error.ts';
import type { UnknownFields } from '../config/convert/reader-options.ts';
import type { ServerStats } from '../life-cycle/server-stats.ts';
import type { RuntimeStore } from '../runtime/runtime-store.ts';
import type { DecodeEnvironment } from './subscriptions/decode-response.ts';

const log = getLogger('config');

export interface DecodingServer {
  /** How messages from elsewhere are read, by the options of the command line. */
  readonly unknownFields: UnknownFields;
  /** Below which control planes may name modules. */
  readonly scriptFolders: readonly string[];
  readonly serverStats: ServerStats;
  readonly runtime: Pick<RuntimeStore, 'snapshot' | 'countDeprecated'>;
}

export function decodeEnvironment({
  unknownFields,
  scriptFolders,
  serverStats,
  runtime,
}: DecodingServer): DecodeEnvironment {
  return {
    unknownFields,
    scriptFolders,
    catalog: new ApiCatalog(),
    runtime: deprecationTexts(() => runtime.snapshot()),
    onWarnings: ({ unknownFieldCount: count, featureUses, warnings }) => {
      if (count > 0 && unknownFields === 'warn') serverStats.unknownDynamicFields(count);
      serverStats.workInProgress(featureUses.workInProgress);
      runtime.countDeprecated(featureUses.deprecated);
      for (const warning of warnings) log.warning(formatProblem(warning));
    },
  };
}

/** What the runtime says of deprecated fields; picked out again when it has changed. */
function deprecationTexts(present: () => RuntimeSnapshot): DecodeEnvironment['runtime'] {
  let seen: RuntimeSnapshot | undefined;
  let texts: ReturnType<DecodeEnvironment['runtime']> = {};
  return () => {
    const snapshot = present();
    if (snapshot === seen) return texts;
    seen = snapshot;
    const entries = [...snapshot].filter(([key]) => /^envoy\.(features\.|deprecated)/.test(key));
    texts = Object.fromEntries(entries.map(([key, { text }]) => [key, text]));
    return texts;
  };
}
