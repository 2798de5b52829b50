/** Keeps facts of a connection under their keys, for the filters behind and for access logs. */
import type { FilterStateValue } from '../../../shared/resources/filters/common/filter-state-value.ts';
import { FilterState } from '../../net/filter-state.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { compileLineFormat, type Formatter } from '../../substitution/compile-format.ts';

/** Where the TCP proxy behind it takes the connection. */
export const CLUSTER_KEY = 'envoy.tcp_proxy.cluster';

export interface CompiledStateValue extends FilterStateValue {
  readonly formatter: Formatter;
}

export class FilterStateWriter {
  readonly #readOnly = new WeakMap<object, Set<string>>();

  compile(values: readonly FilterStateValue[]): readonly CompiledStateValue[] {
    return values.map((value) => ({ ...value, formatter: compileLineFormat(value.format) }));
  }

  keep(values: readonly CompiledStateValue[], info: StreamInfo): void {
    const { connection } = info;
    for (const { key, formatter, skipsEmpty, isReadOnly, isHashable, shared } of values) {
      const value = formatter(info);
      const kept = this.#readOnly.get(connection);
      if ((skipsEmpty && value === '') || kept?.has(key) === true) continue;
      if (isReadOnly) this.#readOnly.set(connection, new Set([...(kept ?? []), key]));
      const state = (connection.filterState ??= new FilterState());
      state.keep(key, value, isHashable);
      if (shared !== undefined) state.share(key, shared);
      if (key === CLUSTER_KEY) connection.upstreamCluster = value;
    }
  }
}
