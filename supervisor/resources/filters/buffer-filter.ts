/** Resolves envoy.extensions.filters.http.buffer.v3: the filter and what a route says of it. */
import type {
  Buffer as BufferMessage,
  BufferPerRoute as BufferPerRouteMessage,
} from '../../../shared/api/generated/envoy/extensions/filters/http/buffer/v3/buffer.ts';
import type { BufferPerRoute, HttpFilter } from '../../../shared/resources/http-filters.ts';
import { extension } from '../extensions.ts';
import { optional } from '../values.ts';

export const BUFFER_FILTER = {
  ...extension(
    'envoy.filters.http.buffer',
    'envoy.extensions.filters.http.buffer.v3.Buffer',
    (message: BufferMessage, _scope, name): HttpFilter => ({
      kind: 'buffer',
      name,
      maxRequestBytes: message.max_request_bytes ?? 0,
    }),
  ),
  isTerminal: false,
};

export const BUFFER_PER_ROUTE_TYPE = 'envoy.extensions.filters.http.buffer.v3.BufferPerRoute';

export function resolveBufferPerRoute(message: BufferPerRouteMessage): BufferPerRoute {
  return { ...optional('maxRequestBytes', message.buffer?.max_request_bytes) };
}
