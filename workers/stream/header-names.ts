/**
 * Header names as they arrive, mapped to one lower-case string each: what the header map stores and
 * everything compares with. Knows which names carry framing, nothing of their values.
 */

/** What the HTTP/1 parser must do with a header beyond storing it. */
export const HeaderKind = {
  ordinary: 0,
  host: 1,
  contentLength: 2,
  transferEncoding: 3,
  connection: 4,
  /** keep-alive, proxy-connection and other headers of this hop alone. */
  hopByHop: 5,
  upgrade: 6,
  expect: 7,
  te: 8,
  proxyConnection: 9,
} as const;

export interface HeaderName {
  /** Lower case. */
  readonly name: string;
  /** A member of `HeaderKind`. */
  readonly kind: number;
}

/** Names learned from traffic beyond the table below; later ones are worked out each time. */
const MAX_LEARNED = 2048;
const MAX_LEARNED_LENGTH = 64;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const known = new Map<string, HeaderName>();
let learned = 0;

/**
 * The name behind `raw`, or undefined when it is not a token. The result is the same object for
 * every spelling of a well-known name.
 */
export function headerName(raw: string): HeaderName | undefined {
  return known.get(raw) ?? learn(raw);
}

function learn(raw: string): HeaderName | undefined {
  if (!TOKEN.test(raw)) return undefined;
  const lower = raw.toLowerCase();
  const found = known.get(lower) ?? { name: lower, kind: HeaderKind.ordinary };
  if (learned < MAX_LEARNED && raw.length <= MAX_LEARNED_LENGTH) {
    learned++;
    const key = interned(raw);
    const name = interned(found.name);
    const own = known.get(name) ?? { name, kind: found.kind };
    known.set(key, own);
    if (key !== name) known.set(name, own);
    return own;
  }
  return found;
}

/**
 * The runtime's one copy of this text: what literals of the code are, so that a comparison with one
 * compares pointers. A slice of a header block would also keep the whole block alive.
 */
function interned(text: string): string {
  const own = Buffer.from(text, 'latin1').toString('latin1');
  return Object.keys({ [own]: undefined })[0] ?? own;
}

function define(text: string, kind: number): void {
  const name = interned(text);
  const entry = { name, kind };
  known.set(name, entry);
  known.set(titleCase(name), entry);
}

function titleCase(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

define('host', HeaderKind.host);
define('content-length', HeaderKind.contentLength);
define('transfer-encoding', HeaderKind.transferEncoding);
define('connection', HeaderKind.connection);
define('keep-alive', HeaderKind.hopByHop);
define('proxy-connection', HeaderKind.proxyConnection);
define('http2-settings', HeaderKind.hopByHop);
define('upgrade', HeaderKind.upgrade);
define('expect', HeaderKind.expect);
define('te', HeaderKind.te);
known.set('TE', known.get('te') ?? { name: 'te', kind: HeaderKind.te });

const ORDINARY = `accept accept-encoding accept-language accept-ranges access-control-allow-credentials
access-control-allow-headers access-control-allow-methods access-control-allow-origin
access-control-expose-headers access-control-max-age access-control-request-headers
access-control-request-method age allow authorization cache-control content-disposition
content-encoding content-language content-location content-range content-security-policy content-type
cookie date dnt etag expires forwarded from grpc-accept-encoding grpc-encoding grpc-message
grpc-status grpc-timeout if-match if-modified-since if-none-match if-range if-unmodified-since
last-modified link location max-forwards origin pragma priority proxy-authenticate
proxy-authorization range referer retry-after sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform
sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user sec-websocket-accept
sec-websocket-extensions sec-websocket-key sec-websocket-protocol sec-websocket-version server
set-cookie strict-transport-security timing-allow-origin traceparent tracestate trailer
upgrade-insecure-requests user-agent vary via warning www-authenticate x-b3-parentspanid x-b3-sampled
x-b3-spanid x-b3-traceid x-client-trace-id x-content-type-options x-envoy-attempt-count
x-envoy-decorator-operation x-envoy-degraded x-envoy-downstream-service-cluster
x-envoy-downstream-service-node x-envoy-expected-rq-timeout-ms x-envoy-external-address
x-envoy-force-trace x-envoy-hedge-on-per-try-timeout x-envoy-immediate-health-check-fail
x-envoy-internal x-envoy-ip-tags x-envoy-is-timeout-retry x-envoy-local-overloaded
x-envoy-max-retries x-envoy-original-host x-envoy-original-method x-envoy-original-path
x-envoy-original-url x-envoy-overloaded x-envoy-ratelimited x-envoy-retriable-header-names
x-envoy-retriable-status-codes x-envoy-retry-grpc-on x-envoy-retry-on x-envoy-upstream-alt-stat-name
x-envoy-upstream-canary x-envoy-upstream-rq-per-try-timeout-ms
x-envoy-upstream-rq-timeout-alt-response x-envoy-upstream-rq-timeout-ms
x-envoy-upstream-service-time x-envoy-upstream-stream-duration-ms x-forwarded-client-cert
x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto x-frame-options x-ot-span-context
x-real-ip x-request-id x-requested-with x-xss-protection`;
for (const name of ORDINARY.split(/\s+/)) define(name, HeaderKind.ordinary);
known.set('ETag', known.get('etag') ?? { name: 'etag', kind: 0 });
known.set('DNT', known.get('dnt') ?? { name: 'dnt', kind: 0 });
