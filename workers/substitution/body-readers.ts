/**
 * Substitution commands about bodies that are JSON, which a filter that waited for them tells of. Only
 * the formats of such filters may use them.
 */
import type { FormatCommandName } from '../../shared/substitution/commands.ts';
import { memberOf } from '../../shared/text/dictionary.ts';
import { fromConfiguration } from '../../shared/substitution/value.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { Reader, ReaderFactory } from './reader-factory.ts';

export interface StreamBodies {
  request?: object;
  response?: object;
}

const BODIES = new WeakMap<StreamInfo, StreamBodies>();

/** What formats read of this stream's bodies from now on. */
export function bodiesOf(info: StreamInfo): StreamBodies {
  let bodies = BODIES.get(info);
  if (bodies === undefined) {
    bodies = {};
    BODIES.set(info, bodies);
  }
  return bodies;
}

export const BODY_READERS = {
  REQUEST_BODY: ({ args }) => member('request', args),
  RESPONSE_BODY: ({ args }) => member('response', args),
} satisfies Partial<Record<FormatCommandName, ReaderFactory>>;

/** Without a key there is no value, as in Envoy. */
function member(side: keyof StreamBodies, keys: readonly string[]): Reader {
  const path = keys.filter((key) => key !== '');
  return (info) => {
    if (path.length === 0) return undefined;
    let value: unknown = BODIES.get(info)?.[side];
    for (const key of path) value = memberOf(value, key);
    return value === undefined ? undefined : (fromConfiguration(value) ?? undefined);
  };
}
