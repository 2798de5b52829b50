/** The conditions of `retry_on` and of the headers that ask for retries, as bits of one number. */

/** HTTP conditions first, then those of gRPC. Source: envoy.config.route.v3.RetryPolicy. */
export const RetryOn = {
  serverError: 1 << 0,
  gatewayError: 1 << 1,
  connectFailure: 1 << 2,
  rateLimited: 1 << 3,
  retriable4xx: 1 << 4,
  refusedStream: 1 << 5,
  retriableStatusCodes: 1 << 6,
  retriableHeaders: 1 << 7,
  reset: 1 << 8,
  resetBeforeRequest: 1 << 9,
  http3PostConnectFailure: 1 << 10,
  grpcCancelled: 1 << 11,
  grpcDeadlineExceeded: 1 << 12,
  grpcResourceExhausted: 1 << 13,
  grpcUnavailable: 1 << 14,
  grpcInternal: 1 << 15,
} as const;

const HTTP_CONDITIONS: ReadonlyMap<string, number> = new Map([
  ['5xx', RetryOn.serverError],
  ['gateway-error', RetryOn.gatewayError],
  ['connect-failure', RetryOn.connectFailure],
  ['envoy-ratelimited', RetryOn.rateLimited],
  ['retriable-4xx', RetryOn.retriable4xx],
  ['refused-stream', RetryOn.refusedStream],
  ['retriable-status-codes', RetryOn.retriableStatusCodes],
  ['retriable-headers', RetryOn.retriableHeaders],
  ['reset', RetryOn.reset],
  ['reset-before-request', RetryOn.resetBeforeRequest],
  ['http3-post-connect-failure', RetryOn.http3PostConnectFailure],
]);

const GRPC_CONDITIONS: ReadonlyMap<string, number> = new Map([
  ['cancelled', RetryOn.grpcCancelled],
  ['deadline-exceeded', RetryOn.grpcDeadlineExceeded],
  ['resource-exhausted', RetryOn.grpcResourceExhausted],
  ['unavailable', RetryOn.grpcUnavailable],
  ['internal', RetryOn.grpcInternal],
]);

/** By gRPC status number: the condition that retries it. */
export const GRPC_STATUS_CONDITIONS: ReadonlyMap<number, number> = new Map([
  [1, RetryOn.grpcCancelled],
  [4, RetryOn.grpcDeadlineExceeded],
  [8, RetryOn.grpcResourceExhausted],
  [13, RetryOn.grpcInternal],
  [14, RetryOn.grpcUnavailable],
]);

/** Bits of all known conditions; others mean nothing. */
export function httpConditions(names: readonly string[]): number {
  return bitsOf(names, HTTP_CONDITIONS);
}

export function grpcConditions(names: readonly string[]): number {
  return bitsOf(names, GRPC_CONDITIONS);
}

/** Whether all of them are known; none are. */
export function areHttpConditions(names: readonly string[]): boolean {
  return names.every((name) => HTTP_CONDITIONS.has(name));
}

export function areGrpcConditions(names: readonly string[]): boolean {
  return names.every((name) => GRPC_CONDITIONS.has(name));
}

/** The parts of a comma separated header, trimmed. */
export function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function bitsOf(names: readonly string[], conditions: ReadonlyMap<string, number>): number {
  let bits = 0;
  for (const name of names) bits |= conditions.get(name) ?? 0;
  return bits;
}
