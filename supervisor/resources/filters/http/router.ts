/** Resolves envoy.extensions.filters.http.router.v3.Router. */
import type { Router } from '../../../../shared/api/generated/envoy/extensions/filters/http/router/v3/router.ts';
import type {
  RouterFilterSettings,
  UpstreamLogMoments,
} from '../../../../shared/resources/filters/http/router.ts';
import { resolveAccessLogs } from '../../access-logs/access-log.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { asciiLower } from '../../matchers/string-matcher.ts';
import type { Scope } from '../../scope.ts';
import { durationMs, optional } from '../../values.ts';
import { terminalHttpFilter } from '../http-filter-row.ts';
import { resolveRouterFilters } from '../upstream-filters.ts';

const FIELDS = knownFields<Router>(
  [
    'dynamic_stats',
    'start_child_span',
    'upstream_log',
    'upstream_log_options',
    'upstream_http_filters',
    'suppress_envoy_headers',
    'respect_expected_rq_timeout',
    'strict_check_headers',
  ],
  // CONNECT is refused by itself; the other counts gRPC failures in a statistic of their own.
  ['reject_connect_request_early_data', 'suppress_grpc_request_failure_code_stats'],
);

export const ROUTER_FILTER = terminalHttpFilter(
  'envoy.filters.http.router',
  'envoy.extensions.filters.http.router.v3.Router',
  resolveRouter,
);

function resolveRouter(message: Router, scope: Scope, name: string): RouterFilterSettings {
  refuseOtherFields(message, FIELDS, scope);
  const { upstream_http_filters: upstream = [], strict_check_headers: strict = [] } = message;
  const filters = resolveRouterFilters(upstream, scope.at('upstream_http_filters'));
  return {
    kind: 'router',
    name,
    options: {
      dynamicStats: message.dynamic_stats ?? true,
      suppressEnvoyHeaders: message.suppress_envoy_headers ?? false,
      respectExpectedRqTimeout: message.respect_expected_rq_timeout ?? false,
      startChildSpan: message.start_child_span ?? false,
      ...optional('strictHeaders', strict.length > 0 ? strict.map(asciiLower) : undefined),
      ...optional('upstreamFilters', filters.length > 0 ? filters : undefined),
      ...optional('upstreamLogMoments', momentsOf(message)),
      upstreamLogs: resolveAccessLogs(message.upstream_log, scope.at('upstream_log')),
    },
  };
}

function momentsOf({ upstream_log_options: options }: Router): UpstreamLogMoments | undefined {
  if (options === undefined) return undefined;
  const { upstream_log_flush_interval: interval } = options;
  return {
    isReady: options.flush_upstream_log_on_upstream_stream ?? false,
    intervalMs: interval === undefined ? 0 : durationMs(interval),
  };
}
