/** Resolves envoy.extensions.filters.http.grpc_stats.v3.FilterConfig. */
import type { FilterConfig } from '../../../../../shared/api/generated/envoy/extensions/filters/http/grpc_stats/v3/config.ts';
import type {
  GrpcStatsFilterSettings,
  GrpcStatsOptions,
} from '../../../../../shared/resources/filters/http/grpc/grpc-stats.ts';
import { httpFilter } from '../../http-filter-row.ts';

export const GRPC_STATS_FILTER = httpFilter(
  'envoy.filters.http.grpc_stats',
  'envoy.extensions.filters.http.grpc_stats.v3.FilterConfig',
  (message: FilterConfig, _scope, name): GrpcStatsFilterSettings => ({
    kind: 'grpc_stats',
    name,
    options: {
      emitsFilterState: message.emit_filter_state === true,
      methods: resolveMethods(message),
      recordsUpstreamTime: message.enable_upstream_stats === true,
    },
  }),
);

function resolveMethods(message: FilterConfig): GrpcStatsOptions['methods'] {
  if (message.stats_for_all_methods === true) {
    return { kind: 'all', replacesDots: message.replace_dots_in_grpc_service_name === true };
  }
  const services = message.individual_method_stats_allowlist?.services ?? [];
  const names = services.flatMap(({ name = '', method_names: methods = [] }) =>
    methods.map((method) => `${name}/${method}`),
  );
  return { kind: 'listed', names };
}
