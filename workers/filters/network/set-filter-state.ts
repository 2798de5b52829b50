/** The network filter set_filter_state: keeps facts of a connection as it goes on. */
import type { FilterStateValue } from '../../../shared/resources/filters/common/filter-state-value.ts';
import type { SetFilterState } from '../../../shared/resources/filters/network/set-filter-state.ts';
import { FilterState } from '../../net/filter-state.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { compileLineFormat, type Formatter } from '../../substitution/compile-format.ts';
import type { NetworkGate } from '../network-gate.ts';

/** Where the TCP proxy behind it takes the connection. */
const CLUSTER_KEY = 'envoy.tcp_proxy.cluster';

interface CompiledValue extends FilterStateValue {
  readonly formatter: Formatter;
}

export function makeFilterStateGate(filter: SetFilterState): NetworkGate {
  const compile = (values: readonly FilterStateValue[]): readonly CompiledValue[] =>
    values.map((value) => ({ ...value, formatter: compileLineFormat(value.format) }));
  const onConnection = compile(filter.onNewConnection);
  const onTlsHandshake = compile(filter.onTlsHandshake);
  const onFirstBytes = compile(filter.onFirstBytes);
  const readOnly = new WeakMap<object, Set<string>>();
  const keep = (values: readonly CompiledValue[], info: StreamInfo): void => {
    const { connection } = info;
    for (const { key, formatter, skipsEmpty, isReadOnly, isHashable } of values) {
      const value = formatter(info);
      const kept = readOnly.get(connection);
      if ((skipsEmpty && value === '') || kept?.has(key) === true) continue;
      if (isReadOnly) readOnly.set(connection, new Set([...(kept ?? []), key]));
      (connection.filterState ??= new FilterState()).keep(key, value, isHashable);
      if (key === CLUSTER_KEY) connection.upstreamCluster = value;
    }
  };
  return {
    onConnection(info) {
      keep(onConnection, info);
      return true;
    },
    onFirstBytes(info) {
      if (info.connection.tls !== undefined) keep(onTlsHandshake, info);
      keep(onFirstBytes, info);
      return true;
    },
    release: () => undefined,
  };
}
