/** Resolves envoy.extensions.filters.http.grpc_http1_bridge.v3.Config. */
import type { Config } from '../../../../../shared/api/generated/envoy/extensions/filters/http/grpc_http1_bridge/v3/config.ts';
import type { Http1BridgeFilterSettings } from '../../../../../shared/resources/filters/http/grpc/http1-bridge.ts';
import { httpFilter } from '../../http-filter-row.ts';

export const HTTP1_BRIDGE_FILTER = httpFilter(
  'envoy.filters.http.grpc_http1_bridge',
  'envoy.extensions.filters.http.grpc_http1_bridge.v3.Config',
  (message: Config, _scope, name): Http1BridgeFilterSettings => ({
    kind: 'grpc_http1_bridge',
    name,
    options: {
      upgradesProtobuf: message.upgrade_protobuf_to_grpc === true,
      ignoresQuery: message.ignore_query_parameters === true,
    },
  }),
);
