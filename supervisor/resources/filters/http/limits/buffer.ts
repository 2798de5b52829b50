/** Resolves envoy.extensions.filters.http.buffer.v3: the filter and what a route says of it. */
import type {
  Buffer as BufferMessage,
  BufferPerRoute as BufferPerRouteMessage,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/buffer/v3/buffer.ts';
import type {
  BufferPerRoute,
  BufferFilterSettings,
} from '../../../../../shared/resources/filters/http/limits/buffer.ts';
import { optional } from '../../../values.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

const BUFFER_PER_ROUTE_TYPE = 'envoy.extensions.filters.http.buffer.v3.BufferPerRoute';

export const BUFFER_FILTER = httpFilter(
  'envoy.filters.http.buffer',
  'envoy.extensions.filters.http.buffer.v3.Buffer',
  (message: BufferMessage, _scope, name): BufferFilterSettings => ({
    kind: 'buffer',
    name,
    options: { maxRequestBytes: message.max_request_bytes ?? 0 },
  }),
  perRoute(BUFFER_PER_ROUTE_TYPE, resolveBufferPerRoute),
);

function resolveBufferPerRoute(message: BufferPerRouteMessage): BufferPerRoute {
  return { ...optional('maxRequestBytes', message.buffer?.max_request_bytes) };
}
