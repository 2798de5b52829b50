/** Settings of envoy.filters.http.dynamic_forward_proxy. */
import type { FilterResource } from '../declare-filter.ts';
import { declareKind } from '../declare-filter.ts';

interface DynamicForwardProxyOptions {
  /** How long a request waits for a cluster of its own. */
  readonly clusterInitTimeoutMs: number;
  /** Filters may name the host. */
  readonly takesDynamicHost?: true;
}

/** Per route: the name that is looked up instead of the request's own. */
export interface DynamicForwardProxyPerRoute {
  readonly hostRewriteLiteral?: string;
  /** Lower case. */
  readonly hostRewriteHeader?: string;
}

export type DynamicForwardProxyFilterSettings = FilterResource<
  'dynamic_forward_proxy',
  DynamicForwardProxyOptions
>;

export const DYNAMIC_FORWARD_PROXY_DECLARATION = declareKind<DynamicForwardProxyFilterSettings>();
