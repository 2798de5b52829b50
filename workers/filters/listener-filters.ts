/** Every listener filter: one row each, its kind and what looks at connections. */
import { KindTable } from '../../shared/resources/by-kind.ts';
import type { ListenerFilter } from '../../shared/resources/filters/listener-filters.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { ListenerFilterRunner } from '../listener/listener-filter.ts';
import { HttpInspector } from './listener/http-inspector.ts';
import { ProxyProtocolReader } from './listener/proxy-protocol.ts';
import { TlsInspector } from './listener/tls-inspector.ts';

/** Undefined for what needs no bytes of the connection. */
export const LISTENER_FILTERS = new KindTable<
  ListenerFilter,
  [StatWriter],
  ListenerFilterRunner | undefined
>({
  http_inspector: (_, stats) => new HttpInspector(stats),
  original_dst: () => undefined,
  proxy_protocol: (filter, stats) => new ProxyProtocolReader(filter, stats),
  tls_inspector: (filter, stats) => new TlsInspector(filter, stats),
});
