/**
 * How long a request may take: the route's timeouts, what the client asks for in `x-envoy-` headers
 * (which the connection manager has left there only for clients that may), gRPC's own header.
 */
import type { StreamDuration } from '../../shared/resources/routes/route.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { isGrpcContentType } from '../stream/grpc-status.ts';
import type { ClusterRoute } from '../stream/route.ts';

/** Milliseconds; 0 means none. Filled by `resolveTimeouts`, one object per request in flight. */
export interface RequestTimeouts {
  globalMs: number;
  perTryMs: number;
  perTryIdleMs: number;
  /** A try that takes too long goes on beside the next one. */
  hedges: boolean;
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
  const retryPolicy = route.retryPolicy?.policy;
  timeouts.globalMs = routeTimeoutMs(route, headers);
  timeouts.perTryMs = Math.floor(retryPolicy?.perTryTimeoutMs ?? 0);
  timeouts.perTryIdleMs = retryPolicy?.perTryIdleTimeoutMs ?? 0;
  const asked = askedTimeoutMs(headers, options);
  if (asked !== undefined) timeouts.globalMs = asked;
  const perTry = take(headers, PER_TRY);
  if (perTry !== undefined) timeouts.perTryMs = perTry;
  if (timeouts.globalMs !== 0 && timeouts.perTryMs >= timeouts.globalMs) timeouts.perTryMs = 0;
  timeouts.hedges = hedges(route, headers);
  const { suppressEnvoyHeaders } = options;
  tellExpectedTimeout(route, headers, timeouts, { suppressEnvoyHeaders, elapsedMs: 0 });
}

/**
 * Tells the upstream how long its answer is waited for, `elapsedMs` after the request was complete.
 */
export function tellExpectedTimeout(
  { action }: ClusterRoute,
  headers: HeaderMap,
  { globalMs, perTryMs, hedges: isHedging }: RequestTimeouts,
  { suppressEnvoyHeaders, elapsedMs }: { suppressEnvoyHeaders: boolean; elapsedMs: number },
): void {
  const waits = (isHedging ? 0 : perTryMs) || globalMs;
  if (waits <= 0) return;
  const left = globalMs > 0 ? Math.max(1, Math.min(waits, globalMs - elapsedMs)) : waits;
  if (!suppressEnvoyHeaders) headers.set(EXPECTED, String(left));
  if (action.maxGrpcTimeout !== undefined && isGrpcContentType(headers.get('content-type'))) {
    writeGrpcTimeout(headers, left);
  }
}

/**
 * What a trusted client tells this proxy alone; the upstream does not see it. Headers about retries
 * are taken out where they are read.
 */
const FOR_THIS_PROXY = [
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
 * manager's own limit holds. A gRPC upstream is told in `grpc-timeout`.
 */
export function streamDurationMs({ action }: ClusterRoute, headers: HeaderMap): number | undefined {
  const { streamDuration } = action;
  if (streamDuration === undefined) return undefined;
  const isGrpc = isGrpcContentType(headers.get('content-type'));
  const asked = isGrpc ? askedStreamDurationMs(streamDuration, headers) : undefined;
  const duration = asked ?? streamDuration.maxMs;
  if (isGrpc && duration !== undefined && duration !== 0) writeGrpcTimeout(headers, duration);
  return duration;
}

/** What a gRPC client asks for within the route's bounds; at least 1 ms, since 0 is no limit. */
function askedStreamDurationMs(
  { grpcHeaderMaxMs, grpcHeaderOffsetMs = 0 }: StreamDuration,
  headers: HeaderMap,
): number | undefined {
  if (grpcHeaderMaxMs === undefined) return undefined;
  const asked = grpcTimeoutMs(headers);
  if (asked === undefined) return undefined;
  const bounded = grpcHeaderMaxMs === 0 ? asked : Math.min(asked, grpcHeaderMaxMs);
  return Math.max(bounded - grpcHeaderOffsetMs, 1);
}

/** A route with `max_stream_duration` has no timeout but that. */
function routeTimeoutMs({ action }: ClusterRoute, headers: HeaderMap): number {
  if (action.streamDuration !== undefined) return 0;
  const { maxGrpcTimeout } = action;
  if (maxGrpcTimeout === undefined || !isGrpcContentType(headers.get('content-type'))) {
    return Math.floor(action.timeoutMs);
  }
  const { maxMs, offsetMs } = maxGrpcTimeout;
  let asked = grpcTimeoutMs(headers) ?? 0;
  if (offsetMs < asked) asked -= offsetMs;
  return maxMs !== 0 && (asked === 0 || asked > maxMs) ? maxMs : asked;
}

/** Eight digits at most: longer times take a larger unit. */
export function writeGrpcTimeout(headers: HeaderMap, milliseconds: number): void {
  let value = milliseconds;
  for (const [unit, size] of GRPC_UNITS_FROM_MS) {
    value = Math.floor(value / size);
    if (value > GRPC_TIMEOUT_MAX) continue;
    headers.set('grpc-timeout', `${value}${unit}`);
    return;
  }
}

const GRPC_TIMEOUT_MAX = 99_999_999;
const GRPC_UNITS_FROM_MS = [
  ['m', 1],
  ['S', 1000],
  ['M', 60],
  ['H', 60],
] as const;

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

function hedges({ action, virtualHost }: ClusterRoute, headers: HeaderMap): boolean {
  const asked = headers.get('x-envoy-hedge-on-per-try-timeout');
  if (asked === 'true' || asked === 'false') return asked === 'true';
  return (action.hedgePolicy ?? virtualHost.hedgePolicy)?.hedgeOnPerTryTimeout === true;
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
  const match = GRPC_TIMEOUT.exec(headers.get('grpc-timeout') ?? '');
  if (match === null) return undefined;
  return Math.ceil(Number(match[1]) * (GRPC_UNIT_MS[match[2] ?? ''] ?? 1));
}
