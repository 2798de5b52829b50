/** Substitution commands about metadata, filter state and the process that Sluice runs in. */
import { memberOf } from '../../shared/text/dictionary.ts';
import { randomUUID } from 'node:crypto';

import type { FormatCommand } from '../../shared/substitution/format.ts';
import { filterStateOf, type StreamInfo } from '../stream/stream-info.ts';
import { plain, present, unknown } from './reader-factory.ts';
import type { ReaderFactory } from './reader-factory.ts';
import { fromConfiguration } from '../../shared/substitution/value.ts';
import type { Reader } from './reader-factory.ts';
import type { JsonValue } from '../../shared/substitution/value.ts';

type SourceOf = (info: StreamInfo) => unknown;

const dynamic: SourceOf = (info) => info.dynamicMetadata;
const upstreamHost: SourceOf = (info) => info.upstreamHost?.metadata;
const cluster: SourceOf = (info) => info.upstreamClusterMetadata;

const SOURCES: ReadonlyMap<string, SourceOf> = new Map([
  ['DYNAMIC', dynamic],
  ['ROUTE', (info: StreamInfo) => info.route?.metadata],
  ['CLUSTER', cluster],
  ['VIRTUAL_HOST', (info: StreamInfo) => info.route?.virtualHost.metadata],
  ['UPSTREAM_HOST', upstreamHost],
]);

export const METADATA_READERS = {
  DYNAMIC_METADATA: ({ args }) => metadata(dynamic, args),
  UPSTREAM_METADATA: ({ args }) => metadata(upstreamHost, args),
  CLUSTER_METADATA: ({ args }) => metadata(cluster, args),
  METADATA: ({ args: [source = '', ...keys] }) => {
    const sourceOf = SOURCES.get(source);
    return sourceOf === undefined ? () => undefined : metadata(sourceOf, keys);
  },
  FILTER_STATE: filterState,
  UPSTREAM_FILTER_STATE: unknown,
  HOSTNAME: (_, { hostname }) => constant(hostname),
  ENVIRONMENT: ({ args: [name = ''] }, environment) =>
    constant(fromConfiguration(environment.variable(name)) ?? '-'),
  UNIQUE_ID: plain(() => randomUUID()),
  TRACE_ID: plain((info) => present(info.trace?.traceId)),
  SPAN_ID: plain((info) => present(info.trace?.spanId)),
} satisfies Record<string, ReaderFactory>;

function constant(value: JsonValue): Reader {
  return () => value;
}

/** Walks down `keys` from the metadata of a source; the first key is the namespace. */
function metadata(sourceOf: SourceOf, keys: readonly string[]): Reader {
  return (info) => {
    let value = sourceOf(info);
    for (const key of keys) {
      value = value instanceof Map ? value.get(key) : memberOf(value, key);
      if (value === undefined) return undefined;
    }
    return fromConfiguration(value) ?? undefined;
  };
}

function filterState({ args: [key = '', form = 'TYPED', name = ''] }: FormatCommand): Reader {
  if (form === 'FIELD') {
    return (info) =>
      info.filterState?.fieldOf(key, name) ?? info.connection.filterState?.fieldOf(key, name);
  }
  if (form === 'PLAIN') return (info) => filterStateOf(info, key);
  return (info) => info.filterState?.jsonOf(key) ?? info.connection.filterState?.jsonOf(key);
}
