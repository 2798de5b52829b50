/** Settings of envoy.filters.http.grpc_http1_bridge. */
import { declareKind, type FilterResource } from '../../declare-filter.ts';

export interface Http1BridgeOptions {
  /** A request with a bare protobuf message becomes a call. */
  readonly upgradesProtobuf: boolean;
  readonly ignoresQuery: boolean;
}

export type Http1BridgeFilterSettings = FilterResource<'grpc_http1_bridge', Http1BridgeOptions>;

export const HTTP1_BRIDGE_DECLARATION = declareKind<Http1BridgeFilterSettings>();
