/** Settings of envoy.filters.http.router. */
import type { AccessLogConfig } from '../../access-loggers/access-loggers.ts';
import type { FilterResource } from '../declare-filter.ts';
import type { HttpFilter } from '../http-filters.ts';
import { declareKind } from '../declare-filter.ts';

export interface UpstreamLogMoments {
  /** When there is a connection for the attempt. */
  readonly isReady: boolean;
  /** Again and again while it lasts; 0: not. */
  readonly intervalMs: number;
}

interface RouterOptions {
  readonly dynamicStats: boolean;
  readonly suppressEnvoyHeaders: boolean;
  readonly respectExpectedRqTimeout: boolean;
  readonly startChildSpan: boolean;
  /** Lower case: requests are refused where one of them says what Envoy cannot read. */
  readonly strictHeaders?: readonly string[];
  readonly upstreamLogs: readonly AccessLogConfig[];
  /** When those logs get a line besides the end of an attempt; absent: never. */
  readonly upstreamLogMoments?: UpstreamLogMoments;
  /**
   * What attempts pass before the codec, at clusters that say nothing of it themselves; never empty.
   */
  readonly upstreamFilters?: readonly HttpFilter[];
}

export type RouterFilterSettings = FilterResource<'router', RouterOptions>;

export const ROUTER_DECLARATION = declareKind<RouterFilterSettings>();
