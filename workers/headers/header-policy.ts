/**
 * The header policy of one HTTP connection manager: what becomes of a request's headers before
 * routing and of a response's headers before they are sent. Owns the order of the steps; knows no
 * codec, no routes and sends nothing.
 */
import type { HeaderPolicy, RequestRefusal } from '../manager/types.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { Address } from '../net/connection-info.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import {
  addressFromForwardedFor,
  compileInternalAddresses,
  isLoopback,
} from '../net/client-address.ts';
import { localAddress } from '../../shared/addresses/local-address.ts';
import { keepsClientCert, writeClientCert } from './client-cert-header.ts';
import { JOINED_IN_REQUESTS } from '../stream/joined-headers.ts';
import type { HeaderMutation } from '../routing/header-mutations.ts';
import { compileHeaderRules } from '../routing/header-rules.ts';
import { compileIpDetection, type DetectedClient } from './ip-detection.ts';
import { ownScheme, schemeOf } from './forwarded-proto.ts';
import { writeProxyStatus } from './proxy-status.ts';
import { httpDate } from './http-date.ts';
import { stripPort, stripTrailingDot } from './host-normalization.ts';
import { compilePathPolicy } from './path-normalization.ts';
import type { PathPolicy } from './path-normalization.ts';
import { sanitizedTe } from './request-sanitizing.ts';
import { REFERER, TE, HOP, TRUSTED, EDGE, CLIENT_CERT, REQUEST_NAMES } from './request-names.ts';
import { newRequestId, withoutTraceDecision } from './request-id.ts';
import { RequestScan } from './request-scan.ts';
import type { HeaderPolicyEnvironment, ManagerOptions } from './header-policy-options.ts';
import {
  rejected,
  redirectTo,
  isSingleAddress,
  PATH_REFUSED,
  UNDERSCORE_REFUSED,
} from './request-refusals.ts';

export function buildHeaderPolicy(
  options: ManagerOptions,
  environment: HeaderPolicyEnvironment,
): HeaderPolicy {
  return new ManagerHeaderPolicy(options, environment);
}

const REMOVED_ON_RESPONSE = ['keep-alive', 'proxy-connection', 'connection'] as const;

class ManagerHeaderPolicy implements HeaderPolicy {
  readonly #options: ManagerOptions;
  readonly #environment: HeaderPolicyEnvironment;
  readonly #path: PathPolicy;
  readonly #isInternal: (address: Address) => boolean;
  readonly #mutateEarly: HeaderMutation | undefined;
  readonly #detect: ReturnType<typeof compileIpDetection> | undefined;
  readonly #localAddress: string;

  /** The scan of the request that `onRequest` works on. */
  readonly #scan = new RequestScan();

  constructor(options: ManagerOptions, environment: HeaderPolicyEnvironment) {
    this.#options = options;
    this.#environment = environment;
    this.#path = compilePathPolicy(options);
    this.#mutateEarly = compileHeaderRules(options.earlyMutations ?? [], JOINED_IN_REQUESTS);
    this.#detect = options.ipDetection && compileIpDetection(options.ipDetection);
    this.#isInternal = compileInternalAddresses(options);
    this.#localAddress = localAddress(environment.localAddressIpVersion);
  }

  onRequest(headers: HeaderMap, info: StreamInfo): RequestRefusal | undefined {
    const refusal = this.#treatUnderscores(headers, info) ?? this.#normalize(headers, info);
    if (refusal !== undefined) return refusal;
    this.#mutateEarly?.(headers, info);
    this.#scan.read(headers);
    const detected = this.#detect?.(headers, info.connection.remoteAddress);
    if (detected !== undefined && detected.rejectStatus > 0) return rejected(detected.rejectStatus);
    const edge = this.#identify(headers, info, detected);
    this.#removeUntrusted(headers, info, edge);
    this.#writeOwn(headers, info, edge);
    return undefined;
  }

  /** Notes who the client is; true when it is an external one that this server meets first. */
  #identify(headers: HeaderMap, info: StreamInfo, detected: DetectedClient | undefined): boolean {
    const hadForwardedFor = this.#scan.forwardedFor !== undefined;
    const client =
      detected === undefined
        ? this.#clientAddress(info)
        : (detected.address ?? info.connection.remoteAddress);
    const { useRemoteAddress, skipXffAppend } = this.#options;
    if (detected?.appends ?? (useRemoteAddress && !skipXffAppend)) this.#appendPeer(headers, info);
    this.#writeForwardedHeaders(headers, info);
    const alone = useRemoteAddress
      ? !hadForwardedFor
      : (detected?.isTrusted ??
        (client !== info.connection.remoteAddress && isSingleAddress(this.#scan.forwardedFor)));
    const internal = alone && this.#isInternal(client);
    info.downstreamRemoteAddress = client;
    info.isInternalRequest = internal;
    return !internal && useRemoteAddress;
  }

  #writeOwn(headers: HeaderMap, info: StreamInfo, edge: boolean): void {
    const { downstreamRemoteAddress: client } = info;
    writeClientCert(headers, this.#options.clientCert, info.connection.tls);
    if (info.isInternalRequest) headers.set('x-envoy-internal', 'true');
    if (this.#options.addUserAgent) this.#writeUserAgent(headers);
    if (this.#options.via !== '') headers.append('via', this.#options.via, ', ');
    if (edge && client.kind === 'ip') headers.set('x-envoy-external-address', client.ip);
    if (this.#options.generateRequestId) this.#writeRequestId(headers, edge);
    info.requestId = this.#scan.requestId ?? '';
  }

  onResponse(headers: HeaderMap, info: StreamInfo, nowMs: number): void {
    for (const name of REMOVED_ON_RESPONSE) headers.remove(name);
    const options = this.#options;
    if (!headers.has('date')) headers.add('date', httpDate(nowMs));
    if (
      options.serverHeader === 'OVERWRITE' ||
      (options.serverHeader === 'APPEND_IF_ABSENT' && !headers.has('server'))
    ) {
      headers.set('server', options.serverName);
    }
    this.onInformational(headers, info);
    if (options.via !== '') headers.append('via', options.via, ', ');
    if (options.proxyStatus !== undefined) {
      writeProxyStatus(headers, info, options.proxyStatus);
    }
  }

  onRequestTrailers(trailers: HeaderMap, info: StreamInfo): RequestRefusal | undefined {
    return this.#treatUnderscores(trailers, info);
  }

  onInformational(headers: HeaderMap, info: StreamInfo): void {
    if (info.requestId !== '' && this.#showsRequestId(info)) {
      headers.set('x-request-id', info.requestId);
    }
  }

  #showsRequestId(info: StreamInfo): boolean {
    if (this.#options.alwaysSetRequestIdInResponse) return true;
    return info.isInternalRequest && info.requestHeaders?.has('x-envoy-force-trace') === true;
  }

  #treatUnderscores(headers: HeaderMap, info: StreamInfo): RequestRefusal | undefined {
    const action = this.#options.underscoresInHeaders;
    if (action === 'ALLOW') return undefined;
    let dropped: Set<string> | undefined;
    for (let at = 0; at < headers.entries.length; at += 2) {
      const name = headers.entries[at] ?? '';
      if (!name.includes('_')) continue;
      if (action === 'REJECT_REQUEST') {
        this.#environment.underscores.countRefusedUnderscore(info.protocol);
        return UNDERSCORE_REFUSED;
      }
      this.#environment.underscores.countDroppedHeader(info.protocol);
      (dropped ??= new Set()).add(name);
    }
    dropped?.forEach((name) => headers.remove(name));
    return undefined;
  }

  #normalize(headers: HeaderMap, info: StreamInfo): RequestRefusal | undefined {
    const { path } = headers;
    if (path !== '' && path !== '*') {
      const normal = this.#path.apply(path);
      if (normal === undefined) return PATH_REFUSED;
      headers.path = normal;
      if (normal !== path && this.#path.redirects(path)) return redirectTo(headers);
    }
    const { stripHostPort, stripTrailingHostDot } = this.#options;
    if (stripTrailingHostDot) headers.authority = stripTrailingDot(headers.authority);
    // RFC 9110, 9.3.6: the authority of a CONNECT always has its port.
    if (stripHostPort !== 'none' && headers.method !== 'CONNECT') {
      const only = stripHostPort === 'any' ? undefined : info.connection.localAddress.port;
      headers.authority = stripPort(headers.authority, only);
    }
    return undefined;
  }

  #clientAddress(info: StreamInfo): Address {
    const { useRemoteAddress, xffNumTrustedHops } = this.#options;
    const peer = info.connection.remoteAddress;
    if (this.#scan.forwardedFor === undefined) return peer;
    if (!useRemoteAddress) {
      return addressFromForwardedFor(this.#scan.forwardedFor, xffNumTrustedHops) ?? peer;
    }
    if (xffNumTrustedHops === 0) return peer;
    return addressFromForwardedFor(this.#scan.forwardedFor, xffNumTrustedHops - 1) ?? peer;
  }

  #appendPeer(headers: HeaderMap, info: StreamInfo): void {
    const peer = info.connection.remoteAddress;
    if (peer.kind !== 'ip') return;
    const address = isLoopback(peer.ip) ? this.#localAddress : peer.ip;
    if (this.#scan.forwardedFor === undefined) headers.add('x-forwarded-for', address);
    else headers.append('x-forwarded-for', address);
  }

  #writeForwardedHeaders(headers: HeaderMap, info: StreamInfo): void {
    const { useRemoteAddress, xffNumTrustedHops, schemeOverwrite, appendXForwardedPort } =
      this.#options;
    const encrypted = ownScheme(info.connection, this.#options.forwardedProtoPorts);
    if (this.#scan.forwardedProto === undefined || (useRemoteAddress && xffNumTrustedHops === 0)) {
      if (this.#scan.forwardedProto === undefined) headers.add('x-forwarded-proto', encrypted);
      else headers.set('x-forwarded-proto', encrypted);
      this.#scan.forwardedProto = encrypted;
    }
    if (appendXForwardedPort) {
      const isOwn = useRemoteAddress && xffNumTrustedHops === 0;
      const { localAddress: local } = info.connection;
      if (local.kind === 'ip' && (isOwn || !headers.has('x-forwarded-port'))) {
        headers.set('x-forwarded-port', String(local.port));
      }
    }
    if (schemeOverwrite !== undefined) headers.scheme = schemeOverwrite;
    else if (headers.scheme === '') headers.scheme = schemeOf(this.#scan.forwardedProto, encrypted);
  }

  #removeUntrusted(headers: HeaderMap, info: StreamInfo, edge: boolean): void {
    const internal = info.isInternalRequest;
    const keepsCert =
      this.#options.forwardsClientCert ||
      keepsClientCert(this.#options.clientCert, info.connection.tls);
    if (!internal) {
      for (const name of this.#environment.internalOnlyHeaders(headers)) headers.remove(name);
    }
    let wanted = (1 << HOP) | (1 << REFERER) | (1 << TE);
    if (!internal) wanted |= 1 << TRUSTED;
    if (edge) wanted |= 1 << EDGE;
    if (!keepsCert) wanted |= 1 << CLIENT_CERT;
    wanted &= this.#scan.removable;
    if (wanted === 0) return;
    if ((wanted & (1 << TE)) !== 0) {
      const te = sanitizedTe(headers.getAll('te') ?? '');
      if (te === undefined) headers.remove('te');
      else headers.set('te', te);
    }
    wanted &= ~(1 << TE);
    for (const [name, meaning] of REQUEST_NAMES) {
      if ((wanted & (1 << meaning)) !== 0) headers.remove(name);
    }
  }

  #writeUserAgent(headers: HeaderMap): void {
    const { id, cluster } = this.#environment.node;
    headers.set('x-envoy-downstream-service-cluster', cluster);
    if ((headers.get('user-agent') ?? '') === '') headers.set('user-agent', cluster);
    if (id !== '') headers.set('x-envoy-downstream-service-node', id);
  }

  #writeRequestId(headers: HeaderMap, edge: boolean): void {
    const given = this.#scan.requestId;
    const keep = given !== undefined && given !== '' && this.#keepsRequestId(edge);
    const requestId = keep ? (edge ? withoutTraceDecision(given) : given) : newRequestId();
    if (requestId !== given) {
      if (given === undefined) headers.add('x-request-id', requestId);
      else headers.set('x-request-id', requestId);
    }
    this.#scan.requestId = requestId;
  }

  #keepsRequestId(edge: boolean): boolean {
    return !edge || this.#options.preserveExternalRequestId;
  }
}
