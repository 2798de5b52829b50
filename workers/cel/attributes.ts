/**
 * The attributes of streams and connections that expressions read: `request.path`,
 * `connection.mtls`, … Source: Envoy's documentation of attributes, observed one by one.
 */
import type { CertificateInfo, TlsInfo } from '../net/connection-info.ts';
import { anyGrpcStatusOf } from '../stream/grpc-status.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { filterStateOf, keptStructOf, type StreamInfo } from '../stream/stream-info.ts';
import { toByteString } from '../../shared/regex/byte-string.ts';
import { metadataMessage } from './metadata-message.ts';
import {
  CelDuration,
  CelTimestamp,
  CelType,
  CelUint,
  HeadersMap,
  JsonMap,
  NO_SUCH_KEY,
  type CelMap,
  type CelValue,
} from './values.ts';

/** Undefined: there is no such thing. */
export type Attribute = (info: StreamInfo) => CelValue | undefined;

type Group = ReadonlyMap<string, Attribute>;

/** Texts that are empty are not there. */
function present(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function whole(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(Math.trunc(value));
}

const NS_PER_MS = 1_000_000;

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * NS_PER_MS));
}

function between(fromMs: number, toMs: number): CelDuration | undefined {
  return fromMs < 0 || toMs < 0 ? undefined : new CelDuration(nanoseconds(toMs - fromMs));
}

function header(name: string): Attribute {
  return (info) => info.requestHeaders?.get(name);
}

function bytesOf(headers: HeaderMap | undefined): number {
  return headers?.byteSize() ?? 0;
}

/** What the client said that the body has, or what it has. */
function requestSize(info: StreamInfo): number {
  const said = info.requestHeaders?.get('content-length');
  return said !== undefined && /^\d{1,15}$/.test(said) ? Number(said) : info.bytesReceived;
}

/** Attributes that only a request has. */
function ofRequest(
  read: (headers: HeaderMap, info: StreamInfo) => CelValue | undefined,
): Attribute {
  return (info) =>
    info.requestHeaders === undefined ? undefined : read(info.requestHeaders, info);
}

const REQUEST: Group = new Map<string, Attribute>([
  ['path', ofRequest(({ path }) => path)],
  ['url_path', ofRequest(({ path }) => path.split('?', 1)[0] ?? '')],
  ['query', ofRequest(({ path }) => (path.includes('?') ? path.slice(path.indexOf('?') + 1) : ''))],
  ['host', ofRequest(({ authority }) => authority)],
  ['scheme', ofRequest(({ scheme }) => scheme)],
  ['method', ofRequest(({ method }) => method)],
  ['referer', header('referer')],
  ['useragent', header('user-agent')],
  ['id', header('x-request-id')],
  ['headers', (info) => new HeadersMap(info.requestHeaders)],
  ['time', (info) => new CelTimestamp(nanoseconds(info.startWallMs))],
  ['protocol', (info) => info.protocol],
  ['size', (info) => whole(requestSize(info))],
  ['total_size', (info) => whole(info.bytesReceived + bytesOf(info.requestHeaders))],
  ['duration', (info) => between(info.startMs, info.endMs)],
]);

const RESPONSE: Group = new Map<string, Attribute>([
  ['code', (info) => (info.responseCode === 0 ? undefined : whole(info.responseCode))],
  ['code_details', (info) => present(info.responseCodeDetails)],
  ['flags', (info) => whole(info.responseFlags)],
  ['grpc_status', (info) => (info.responseCode === 0 ? undefined : whole(anyGrpcStatusOf(info)))],
  ['headers', (info) => new HeadersMap(info.responseHeaders)],
  ['trailers', (info) => new HeadersMap(info.responseTrailers)],
  ['size', (info) => whole(info.bytesSent)],
  [
    'total_size',
    (info) =>
      whole(info.bytesSent + bytesOf(info.responseHeaders) + bytesOf(info.responseTrailers)),
  ],
  ['backend_latency', (info) => between(info.firstUpstreamTxMs, info.lastUpstreamRxMs)],
]);

type TlsOf = (info: StreamInfo) => TlsInfo | undefined;

function first(texts: readonly string[] | undefined): string | undefined {
  return present(texts?.[0]);
}

/** What both sides' TLS connections say alike. */
function tlsAttributes(tlsOf: TlsOf): readonly (readonly [string, Attribute])[] {
  const of = (
    side: 'peer' | 'local',
    read: (certificate: CertificateInfo) => string | undefined,
  ): Attribute => {
    return (info) => {
      const certificate = tlsOf(info)?.[side];
      return certificate && present(read(certificate));
    };
  };
  return [
    ['tls_version', (info) => tlsOf(info)?.version],
    ['subject_local_certificate', of('local', ({ subject }) => subject)],
    ['subject_peer_certificate', of('peer', ({ subject }) => subject)],
    ['dns_san_local_certificate', of('local', ({ dnsSans }) => first(dnsSans))],
    ['dns_san_peer_certificate', of('peer', ({ dnsSans }) => first(dnsSans))],
    ['uri_san_local_certificate', of('local', ({ uriSans }) => first(uriSans))],
    ['uri_san_peer_certificate', of('peer', ({ uriSans }) => first(uriSans))],
    ['sha256_peer_certificate_digest', of('peer', ({ fingerprint256 }) => fingerprint256)],
  ];
}

const CONNECTION: Group = new Map<string, Attribute>([
  ...tlsAttributes(({ connection }) => connection.tls),
  ['id', ({ connection }) => new CelUint(BigInt(connection.id))],
  ['mtls', ({ connection }) => connection.tls?.peer !== undefined],
  ['requested_server_name', ({ connection }) => connection.requestedServerName],
  ['termination_details', ({ connection }) => present(connection.terminationDetails)],
  ['transport_failure_reason', ({ connection }) => present(connection.transportFailureReason)],
]);

const UPSTREAM: Group = new Map<string, Attribute>([
  ...tlsAttributes((info) => info.upstreamTls),
  ['address', (info) => info.upstreamHost?.address],
  ['port', (info) => whole(info.upstreamHost?.port)],
  ['local_address', (info) => info.upstreamLocalAddress?.text],
  ['transport_failure_reason', (info) => present(info.upstreamTransportFailureReason)],
  ['request_attempt_count', (info) => whole(info.attemptCount)],
  ['cx_pool_ready_duration', (info) => between(info.startMs, info.upstreamPoolReadyMs)],
]);

const SOURCE: Group = new Map<string, Attribute>([
  ['address', (info) => info.downstreamRemoteAddress.text],
  ['port', (info) => whole(info.downstreamRemoteAddress.port)],
]);

const DESTINATION: Group = new Map<string, Attribute>([
  ['address', ({ connection }) => connection.localAddress.text],
  ['port', ({ connection }) => whole(connection.localAddress.port)],
]);

/** The order of the API's enum. */
const DIRECTIONS: readonly string[] = ['UNSPECIFIED', 'INBOUND', 'OUTBOUND'];

/** Where the request went, or is going to as its route says. */
function clusterOf({ upstreamCluster, route }: StreamInfo): string {
  if (upstreamCluster !== '' || route?.kind !== 'cluster') return upstreamCluster;
  return route.clusterName;
}

const XDS: Group = new Map<string, Attribute>([
  ['cluster_name', (info) => present(toByteString(clusterOf(info)))],
  ['cluster_metadata', ({ upstreamClusterMetadata: of }) => of && metadataMessage(of)],
  ['route_name', (info) => info.route && toByteString(info.routeName)],
  ['route_metadata', ({ route }) => route && metadataMessage(route.metadata)],
  ['virtual_host_name', ({ route }) => route && toByteString(route.virtualHost.name)],
  ['virtual_host_metadata', ({ route }) => route && metadataMessage(route.virtualHost.metadata)],
  ['upstream_host_metadata', ({ upstreamHost: of }) => of && metadataMessage(of.metadata)],
  ['listener_direction', (info) => whole(DIRECTIONS.indexOf(info.connection.direction))],
  ['filter_chain_name', (info) => toByteString(info.connection.filterChainName)],
]);

const GROUPS: ReadonlyMap<string, Group> = new Map([
  ['request', REQUEST],
  ['response', RESPONSE],
  ['connection', CONNECTION],
  ['upstream', UPSTREAM],
  ['source', SOURCE],
  ['destination', DESTINATION],
  ['xds', XDS],
]);

/** Undefined where the pair names no attribute. */
export function attributeOf(root: string, field: string): Attribute | undefined {
  return GROUPS.get(root)?.get(field);
}

/** Every attribute of a group, as a map. */
class GroupMap implements CelMap {
  readonly isMap = true;
  readonly #group: Group;
  readonly #info: StreamInfo;

  constructor(group: Group, info: StreamInfo) {
    this.#group = group;
    this.#info = info;
  }

  get size(): number {
    return this.keys().length;
  }

  get(key: CelValue): CelValue | undefined {
    return typeof key === 'string' ? this.#group.get(key)?.(this.#info) : undefined;
  }

  keys(): readonly CelValue[] {
    return [...this.#group.keys()].filter((key) => this.get(key) !== undefined);
  }
}

/** What filters keep under keys; it does not say which keys there are, as in Envoy. */
class FilterStateMap implements CelMap {
  readonly isMap = true;
  readonly size = 0;
  readonly #info: StreamInfo;

  constructor(info: StreamInfo) {
    this.#info = info;
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined;
    const struct = keptStructOf(this.#info, key);
    return struct === undefined ? filterStateOf(this.#info, key) : new JsonMap(struct);
  }

  keys(): readonly CelValue[] {
    return [];
  }
}

const TYPES: readonly string[] = [
  'bool',
  'bytes',
  'double',
  'int',
  'list',
  'map',
  'null_type',
  'string',
  'type',
  'uint',
];

/** What a name stands for: a group of attributes, or a type. */
export function rootOf(name: string): (info: StreamInfo) => CelValue {
  const group = GROUPS.get(name);
  if (group !== undefined) return (info) => new GroupMap(group, info);
  if (name === 'metadata') return (info) => metadataMessage(info.dynamicMetadata);
  if (name === 'filter_state') return (info) => new FilterStateMap(info);
  if (!TYPES.includes(name)) return () => NO_SUCH_KEY;
  const type = new CelType(name);
  return () => type;
}
