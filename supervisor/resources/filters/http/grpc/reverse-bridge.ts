/** Resolves envoy.extensions.filters.http.grpc_http1_reverse_bridge.v3.FilterConfig, also per route. */
import type {
  FilterConfig,
  FilterConfigPerRoute,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/grpc_http1_reverse_bridge/v3/config.ts';
import type {
  ReverseBridgeFilterSettings,
  ReverseBridgePerRoute,
} from '../../../../../shared/resources/filters/http/grpc/reverse-bridge.ts';
import { asciiLower } from '../../../matchers/string-matcher.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

const PACKAGE = 'envoy.extensions.filters.http.grpc_http1_reverse_bridge.v3';

export const REVERSE_BRIDGE_FILTER = httpFilter(
  'envoy.filters.http.grpc_http1_reverse_bridge',
  `${PACKAGE}.FilterConfig`,
  (message: FilterConfig, _scope, name): ReverseBridgeFilterSettings => {
    const sizeHeader = asciiLower(message.response_size_header ?? '');
    return {
      kind: 'grpc_http1_reverse_bridge',
      name,
      options: {
        contentType: message.content_type ?? '',
        withholdsFrames: message.withhold_grpc_frames === true,
        ...(sizeHeader === '' ? {} : { sizeHeader }),
      },
    };
  },
  perRoute(
    `${PACKAGE}.FilterConfigPerRoute`,
    (message: FilterConfigPerRoute): ReverseBridgePerRoute => ({
      isDisabled: message.disabled === true,
    }),
  ),
);
