/** Settings of envoy.filters.http.grpc_stats. */
import { declareKind, type FilterResource } from '../../declare-filter.ts';

export interface GrpcStatsOptions {
  readonly emitsFilterState: boolean;
  /** Which calls count under their service and method; all others count for the cluster alone. */
  readonly methods:
    | { readonly kind: 'all'; readonly replacesDots: boolean }
    /** `service/method`. */
    | { readonly kind: 'listed'; readonly names: readonly string[] };
  /** How long hosts took goes into a histogram. */
  readonly recordsUpstreamTime: boolean;
}

export type GrpcStatsFilterSettings = FilterResource<'grpc_stats', GrpcStatsOptions>;

export const GRPC_STATS_DECLARATION = declareKind<GrpcStatsFilterSettings>();
