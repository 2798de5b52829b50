/** Settings of envoy.filters.http.grpc_web: there are none. */
import { declareKind, type FilterResource, type NoOptions } from '../../declare-filter.ts';

export type GrpcWebFilterSettings = FilterResource<'grpc_web', NoOptions>;

export const GRPC_WEB_DECLARATION = declareKind<GrpcWebFilterSettings>();
