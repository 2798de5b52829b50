/** A connection as modules that are network filters see it. */
import type { Connection } from '../../../../shared/scripts/context.ts';
import type { FilteredConnection } from '../../../../shared/scripts/network-filter.ts';
import { dictionary } from '../../../../shared/text/dictionary.ts';
import { metadataValue } from '../../../matching/metadata-value.ts';
import { FilterState } from '../../../net/filter-state.ts';
import { connectionOf } from '../../../net/shown-connection.ts';
import { filterStateOf, type StreamInfo } from '../../../stream/stream-info.ts';
import { CLUSTER_KEY } from '../../common/filter-state-writer.ts';
import { addConnectionMetadata } from '../connection-metadata.ts';

/** The limit of namespaces, and of keys in the filter state. */
const KEYS_MAX = 1_000;

/** `info` is the connection's own stream. */
export function filteredConnection(info: StreamInfo): FilteredConnection {
  const { connection } = info;
  const shown: Connection = connectionOf(connection);
  return {
    ...shown,
    getMetadata: (namespace, key) => metadataValue(info.dynamicMetadata, namespace, [key]),
    setMetadata: (namespace, key, value) => {
      // What is no JSON could not be written down.
      const text = JSON.stringify(value) as string | undefined;
      if (text === undefined) throw new TypeError(`the value of ${key} cannot be kept`);
      const before = info.dynamicMetadata;
      const count = (before?.size ?? 0) + Object.keys(before?.get(namespace) ?? {}).length;
      if (count > KEYS_MAX) throw new RangeError('too much metadata');
      addConnectionMetadata(info, namespace, dictionary([[key, JSON.parse(text) as unknown]]));
    },
    getFilterState: (key) => filterStateOf(info, key),
    setFilterState: (key, value) => {
      const kept = (connection.filterState ??= new FilterState());
      if (kept.size > KEYS_MAX) throw new RangeError('too much filter state');
      const text = String(value);
      kept.keep(key, text, false);
      if (key === CLUSTER_KEY) connection.upstreamCluster = text;
    },
    setDetails: (details) => {
      connection.terminationDetails = String(details);
    },
  };
}
