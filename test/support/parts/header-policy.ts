/** Runs a connection manager's header policy over single requests. */
import { HeaderMap } from '../../../workers/stream/header-map.ts';
import { localAddress } from '../../../shared/addresses/local-address.ts';
import { buildHeaderPolicy } from '../../../workers/headers/header-policy.ts';
import { StreamInfo } from '../../../workers/stream/stream-info.ts';
import type { Address, ConnectionInfo } from '../../../workers/net/connection-info.ts';

export type Options = Parameters<typeof buildHeaderPolicy>[0];

export const DEFAULTS: Options = {
  addUserAgent: false,
  forwardsClientCert: false,
  alwaysSetRequestIdInResponse: false,
  escapedSlashes: 'KEEP_UNCHANGED',
  generateRequestId: true,
  mergeSlashes: false,
  normalizePath: false,
  preserveExternalRequestId: false,
  serverHeader: 'OVERWRITE',
  serverName: 'envoy',
  skipXffAppend: false,
  stripHostPort: 'none',
  stripTrailingHostDot: false,
  underscoresInHeaders: 'ALLOW',
  useRemoteAddress: false,
  via: '',
  xffNumTrustedHops: 0,
};
export const NODE = { id: 'node-1', cluster: 'front' };
export const LOOPBACK_RANGES = [
  { address: '127.0.0.0', prefixLength: 8 },
  { address: '10.0.0.0', prefixLength: 8 },
];
export const SELF = localAddress('v4');
export const SAMPLED_ID = '21a1b2c3-d4e5-9f60-8123-0123456789ab';
export const UNSAMPLED_ID = '21a1b2c3-d4e5-4f60-8123-0123456789ab';

function ip(address: string, port: number): Address {
  return { kind: 'ip', ip: address, port, text: `${address}:${port}` };
}

export function connection(peer = '127.0.0.1'): ConnectionInfo {
  return {
    id: 1,
    remoteAddress: ip(peer, 50_000),
    directRemoteAddress: ip(peer, 50_000),
    localAddress: ip('127.0.0.1', 8080),
    listenerName: 'web',
    direction: 'UNSPECIFIED',
    filterChainName: '',
    requestedServerName: '',
    tls: undefined,
    terminationDetails: '',
    transportFailureReason: '',
  };
}

interface Sent {
  readonly headers: HeaderMap;
  readonly info: StreamInfo;
  readonly refusal: ReturnType<ReturnType<typeof buildHeaderPolicy>['onRequest']>;
  readonly dropped: number;
  readonly refused: number;
}

export function send(
  options: Partial<Options>,
  given: readonly (readonly [string, string])[],
  request: { peer?: string; authority?: string; path?: string; internalOnly?: string[] } = {},
): Sent {
  let dropped = 0;
  let refused = 0;
  const policy = buildHeaderPolicy(
    { ...DEFAULTS, ...options },
    {
      localAddressIpVersion: 'v4',
      node: NODE,
      underscores: {
        countDroppedHeader: () => (dropped += 1),
        countRefusedUnderscore: () => (refused += 1),
      },
      internalOnlyHeaders: () => request.internalOnly ?? [],
    },
  );
  const headers = new HeaderMap();
  headers.method = 'GET';
  headers.path = request.path ?? '/';
  headers.authority = request.authority ?? 'h';
  for (const [name, value] of given) headers.add(name, value);
  const info = new StreamInfo(connection(request.peer), 0, 0);
  info.requestHeaders = headers;
  const refusal = policy.onRequest(headers, info);
  return { headers, info, refusal, dropped, refused };
}

/** The headers as lines; a generated request id shows as ID. */
export function lines(headers: HeaderMap): string[] {
  const shown: string[] = [];
  headers.forEach((name, value) => {
    shown.push(`${name}: ${/^.{8}-.{4}-4.{3}-.{4}-.{12}$/.test(value) ? 'ID' : value}`);
  });
  return shown;
}
