/**
 * Headers of which a message has one entry at most: Envoy joins a second value to the first
 * with a comma. Any other header keeps an entry per value. Observed from Envoy.
 */
import type { HeaderMap } from './header-map.ts';

const JOINED_ANYWHERE = [
  'cache-control',
  'content-encoding',
  'content-type',
  'proxy-status',
  'via',
  'x-envoy-attempt-count',
  'x-envoy-decorator-operation',
];

export const JOINED_IN_REQUESTS: ReadonlySet<string> = new Set([
  ...JOINED_ANYWHERE,
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'access-control-request-private-network',
  'authorization',
  'expect',
  'grpc-accept-encoding',
  'grpc-timeout',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'origin',
  'pragma',
  'referer',
  'user-agent',
  'x-client-trace-id',
  'x-envoy-downstream-service-cluster',
  'x-envoy-original-host',
  'x-envoy-original-path',
  'x-forwarded-client-cert',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-request-id',
]);

export const JOINED_IN_RESPONSES: ReadonlySet<string> = new Set([
  ...JOINED_ANYWHERE,
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'access-control-max-age',
  'age',
  'date',
  'etag',
  'expires',
  'grpc-message',
  'grpc-status',
  'last-modified',
  'location',
  'server',
  'vary',
  'x-envoy-degraded',
  'x-envoy-ratelimited',
  'x-envoy-upstream-service-time',
]);

/** Adds a value the way Envoy does: joined to the header's entry, or as a further entry. */
export function addHeader(
  headers: HeaderMap,
  name: string,
  value: string,
  joined: ReadonlySet<string>,
): void {
  if (joined.has(name)) headers.append(name, value);
  else headers.add(name, value);
}
