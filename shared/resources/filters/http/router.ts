/** Settings of envoy.filters.http.router. */
import type { AccessLogConfig } from '../../access-loggers/access-loggers.ts';
import type { FilterResource } from '../declare-filter.ts';
import { declareKind } from '../declare-filter.ts';

interface RouterOptions {
  readonly dynamicStats: boolean;
  readonly suppressEnvoyHeaders: boolean;
  readonly respectExpectedRqTimeout: boolean;
  readonly startChildSpan: boolean;
  readonly upstreamLogs: readonly AccessLogConfig[];
}

export type RouterFilterSettings = FilterResource<'router', RouterOptions>;

export const ROUTER_DECLARATION = declareKind<RouterFilterSettings>();
