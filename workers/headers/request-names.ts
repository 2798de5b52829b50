/** Names of request headers that mean something to the header policy. */

/** What a header name means to the policy; names not listed mean nothing and are left alone. */
export const FORWARDED_FOR = 1;
export const FORWARDED_PROTO = 2;
export const REQUEST_ID = 3;
export const REFERER = 4;
export const TE = 5;
/** Removed always. */
export const HOP = 6;
/** Removed when the request is not internal. */
export const TRUSTED = 7;
/** Removed when the request comes from an external client right to us. */
export const EDGE = 8;
/** Removed unless it is told to pass: only TLS could vouch for it. */
export const CLIENT_CERT = 9;

export const REQUEST_NAMES = new Map<string, number>([
  ['x-forwarded-for', FORWARDED_FOR],
  ['x-forwarded-proto', FORWARDED_PROTO],
  ['x-request-id', REQUEST_ID],
  ['referer', REFERER],
  ['te', TE],
  ['x-envoy-internal', HOP],
  ['keep-alive', HOP],
  ['proxy-connection', HOP],
  ['x-forwarded-client-cert', CLIENT_CERT],
  ['x-envoy-retriable-status-codes', TRUSTED],
  ['x-envoy-retriable-header-names', TRUSTED],
  ['x-envoy-retry-on', TRUSTED],
  ['x-envoy-retry-grpc-on', TRUSTED],
  ['x-envoy-max-retries', TRUSTED],
  ['x-envoy-upstream-alt-stat-name', TRUSTED],
  ['x-envoy-upstream-rq-timeout-ms', TRUSTED],
  ['x-envoy-upstream-rq-per-try-timeout-ms', TRUSTED],
  ['x-envoy-upstream-rq-timeout-alt-response', TRUSTED],
  ['x-envoy-upstream-stream-duration-ms', TRUSTED],
  ['x-envoy-expected-rq-timeout-ms', TRUSTED],
  ['x-envoy-force-trace', TRUSTED],
  ['x-envoy-ip-tags', TRUSTED],
  ['x-envoy-original-url', TRUSTED],
  ['x-envoy-hedge-on-per-try-timeout', TRUSTED],
  ['x-envoy-decorator-operation', EDGE],
  ['x-envoy-downstream-service-cluster', EDGE],
  ['x-envoy-downstream-service-node', EDGE],
  ['x-envoy-original-path', EDGE],
  ['x-envoy-original-host', EDGE],
]);

/** The first letters of the names above: `k`, `p`, `r`, `t`, `x`. */
export const FIRST_LETTERS = new Uint8Array(128);
for (const name of REQUEST_NAMES.keys()) FIRST_LETTERS[name.charCodeAt(0)] = 1;
