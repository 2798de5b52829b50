/**
 * How long a request may take: the route's timeouts, what the client asks for in `x-envoy-` headers
 * (which the connection manager has left there only for clients that may), gRPC's own header.
 */
import type { HeaderMap } from '../http/header-map.ts';
import { isGrpcContentType } from '../substitution/grpc-status.ts';
import type { ClusterRoute } from './types.ts';

/** Milliseconds; 0 means none. Filled by `resolveTimeouts`, one object per request in flight. */
export interface RequestTimeouts {
  globalMs: number;
  perTryMs: number;
  perTryIdleMs: number;
}

export interface TimeoutOptions {
  readonly suppressEnvoyHeaders: boolean;
  readonly respectExpectedRqTimeout: boolean;
}

const GLOBAL = 'x-envoy-upstream-rq-timeout-ms';
const PER_TRY = 'x-envoy-upstream-rq-per-try-timeout-ms';
const EXPECTED = 'x-envoy-expected-rq-timeout-ms';
const UNSIGNED = /^\d+$/;

/**
 * Works the timeouts out, removes the headers that asked for them and tells the upstream in
 * `x-envoy-expected-rq-timeout-ms`, before any other header of the request is finalised.
 */
export function resolveTimeouts(
  route: ClusterRoute,
  headers: HeaderMap,
  options: TimeoutOptions,
  timeouts: RequestTimeouts,
): void {
  const { retryPolicy } = route;
  timeouts.globalMs = routeTimeoutMs(route);
  timeouts.perTryMs = Math.floor(retryPolicy?.perTryTimeoutMs ?? 0);
  timeouts.perTryIdleMs = retryPolicy?.perTryIdleTimeoutMs ?? 0;
  const asked = askedTimeoutMs(headers, options);
  if (asked !== undefined) timeouts.globalMs = asked;
  const perTry = take(headers, PER_TRY);
  if (perTry !== undefined) timeouts.perTryMs = perTry;
  if (timeouts.globalMs !== 0 && timeouts.perTryMs >= timeouts.globalMs) timeouts.perTryMs = 0;
  const waits = (hedges(route, headers) ? 0 : timeouts.perTryMs) || timeouts.globalMs;
  if (waits > 0 && !options.suppressEnvoyHeaders) headers.set(EXPECTED, String(waits));
}

/** What a trusted client tells this proxy alone; the upstream does not see it. */
const FOR_THIS_PROXY = [
  'x-envoy-hedge-on-per-try-timeout',
  'x-envoy-max-retries',
  'x-envoy-retriable-header-names',
  'x-envoy-retriable-status-codes',
  'x-envoy-retry-grpc-on',
  'x-envoy-retry-on',
  'x-envoy-upstream-alt-stat-name',
  'x-envoy-upstream-rq-timeout-alt-response',
  'x-envoy-upstream-stream-duration-ms',
] as const;

/** Only internal requests still have them: the connection manager took them from all others. */
export function removeProxyHeaders(headers: HeaderMap): void {
  for (const name of FOR_THIS_PROXY) headers.remove(name);
}

/**
 * How long the whole stream may last by its route, 0 for no limit, undefined when the connection
 * manager's own limit holds. Rewrites `grpc-timeout` when it is what decides.
 */
export function streamDurationMs(route: ClusterRoute, headers: HeaderMap): number | undefined {
  const { maxStreamDurationMs, grpcTimeoutHeaderMaxMs, grpcTimeoutHeaderOffsetMs } = route.action;
  const asked = grpcTimeoutHeaderMaxMs === undefined ? undefined : grpcTimeoutMs(headers);
  if (asked === undefined || grpcTimeoutHeaderMaxMs === undefined) return maxStreamDurationMs;
  let duration = grpcTimeoutHeaderMaxMs === 0 ? asked : Math.min(asked, grpcTimeoutHeaderMaxMs);
  if (duration !== 0) duration = Math.max(duration - (grpcTimeoutHeaderOffsetMs ?? 0), 0);
  headers.set('grpc-timeout', `${duration}m`);
  return duration;
}

/** A route with `max_stream_duration` has no timeout but that. */
function routeTimeoutMs({ action }: ClusterRoute): number {
  const bounded =
    action.maxStreamDurationMs !== undefined || action.grpcTimeoutHeaderMaxMs !== undefined;
  return bounded ? 0 : Math.floor(action.timeoutMs);
}

function take(headers: HeaderMap, name: string): number | undefined {
  const text = headers.get(name);
  if (text === undefined) return undefined;
  const value = milliseconds(text);
  headers.remove(name);
  return value;
}

function milliseconds(text: string | undefined): number | undefined {
  return text !== undefined && UNSIGNED.test(text) ? Number(text) : undefined;
}

function askedTimeoutMs(headers: HeaderMap, options: TimeoutOptions): number | undefined {
  const expected = options.respectExpectedRqTimeout
    ? milliseconds(headers.get(EXPECTED))
    : undefined;
  return expected ?? take(headers, GLOBAL);
}

function hedges({ action }: ClusterRoute, headers: HeaderMap): boolean {
  if (action.hedgePolicy?.hedgeOnPerTryTimeout === true) return true;
  return headers.get('x-envoy-hedge-on-per-try-timeout') === 'true';
}

const GRPC_TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const GRPC_UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

function grpcTimeoutMs(headers: HeaderMap): number | undefined {
  if (!isGrpcContentType(headers.get('content-type'))) return undefined;
  const match = GRPC_TIMEOUT.exec(headers.get('grpc-timeout') ?? '');
  if (match === null) return undefined;
  return Math.ceil(Number(match[1]) * (GRPC_UNIT_MS[match[2] ?? ''] ?? 1));
}
