/**
 * Resolves envoy.extensions.filters.http.grpc_stats.v3.FilterConfig: it counts calls of gRPC, which
 * need HTTP/2. Control planes put it everywhere, so it is let pass, and nothing of it runs.
 */
import type { FilterConfig } from '../../../../shared/api/generated/envoy/extensions/filters/http/grpc_stats/v3/config.ts';
import type { HttpFilter } from '../../../../shared/resources/filters/http-filters.ts';
import { httpFilter } from '../http-filter-row.ts';

export const GRPC_STATS_FILTER = httpFilter(
  'envoy.filters.http.grpc_stats',
  'envoy.extensions.filters.http.grpc_stats.v3.FilterConfig',
  (_: FilterConfig, scope): HttpFilter | undefined => {
    scope.warning('no_effect', 'nothing is counted: gRPC needs HTTP/2, which is not supported yet');
    return undefined;
  },
);
