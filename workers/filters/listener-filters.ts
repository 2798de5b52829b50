/** Every listener filter: one row each, its kind and what looks at connections. */
import { KindTable } from '../../shared/resources/by-kind.ts';
import type { ListenerFilter } from '../../shared/resources/filters/listener-filters.ts';
import type { RateLimitBucket } from '../../shared/resources/routes/rate-limit-bucket.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { ListenerFilterRunner } from '../listener/listener-filter.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { TokenBucket } from './common/token-bucket.ts';
import { HttpInspector } from './listener/http-inspector.ts';
import { makeListenerRateLimit } from './listener/local-rate-limit.ts';
import { ProxyProtocolReader } from './listener/proxy-protocol.ts';
import { makeListenerFilterState } from './listener/set-filter-state.ts';
import { TlsInspector } from './listener/tls-inspector.ts';

/** What listener filters may use of their worker. */
export interface ListenerFilterContext {
  readonly env: { readonly stats: StatWriter };
  readonly loop: WorkerLoop;
  readonly runtime: Runtime;
  /** Tokens that all workers take from. */
  readonly sharedBucket: (options: RateLimitBucket) => TokenBucket;
}

/** Undefined for what needs no bytes of the connection and keeps nothing of it. */
export const LISTENER_FILTERS = new KindTable<
  ListenerFilter,
  [ListenerFilterContext],
  ListenerFilterRunner | undefined
>({
  http_inspector: (_, { env }) => new HttpInspector(env.stats),
  original_dst: () => undefined,
  proxy_protocol: (filter, { env }) => new ProxyProtocolReader(filter, env.stats),
  tls_inspector: (filter, { env }) => new TlsInspector(filter, env.stats),
  listener_local_ratelimit: makeListenerRateLimit,
  listener_set_filter_state: makeListenerFilterState,
});
