/**
 * What entries of log services say of requests and of connections alike:
 * envoy.data.accesslog.v3.AccessLogCommon.
 */
import type { LogServiceConfig } from '../../../../shared/resources/access-loggers/grpc.ts';
import { ResponseFlag } from '../../../stream/response-flags.ts';
import { filterStateOf, type AccessLogType, type StreamInfo } from '../../../stream/stream-info.ts';
import type { Address, CertificateInfo } from '../../../net/connection-info.ts';
import { encodeTrace, field, message, type TraceField } from '../../../tap/trace-message.ts';
import { bytes, number, text } from './entry-fields.ts';
import { structFields } from './struct-fields.ts';

/** In the order of their numbers. */
const LOG_TYPES: readonly AccessLogType[] = [
  'NotSet',
  'TcpUpstreamConnected',
  'TcpPeriodic',
  'TcpConnectionEnd',
  'DownstreamStart',
  'DownstreamPeriodic',
  'DownstreamEnd',
  'UpstreamPoolReady',
  'UpstreamPeriodic',
  'UpstreamEnd',
  'DownstreamTunnelSuccessfullyEstablished',
  'UdpTunnelUpstreamConnected',
  'UdpPeriodic',
  'UdpSessionEnd',
  'TcpConnectionStart',
];

const TLS_VERSIONS: readonly string[] = ['', 'TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];

/**
 * Numbers of the suites that the runtime's TLS agrees on, by its names. Source: IANA's registry.
 */
const CIPHER_SUITES: Readonly<Record<string, number>> = {
  TLS_AES_128_GCM_SHA256: 0x1301,
  TLS_AES_256_GCM_SHA384: 0x1302,
  TLS_CHACHA20_POLY1305_SHA256: 0x1303,
  'ECDHE-ECDSA-AES128-GCM-SHA256': 0xc02b,
  'ECDHE-ECDSA-AES256-GCM-SHA384': 0xc02c,
  'ECDHE-RSA-AES128-GCM-SHA256': 0xc02f,
  'ECDHE-RSA-AES256-GCM-SHA384': 0xc030,
  'ECDHE-RSA-CHACHA20-POLY1305': 0xcca8,
  'ECDHE-ECDSA-CHACHA20-POLY1305': 0xcca9,
  'ECDHE-ECDSA-AES128-SHA': 0xc009,
  'ECDHE-ECDSA-AES256-SHA': 0xc00a,
  'ECDHE-RSA-AES128-SHA': 0xc013,
  'ECDHE-RSA-AES256-SHA': 0xc014,
  'AES128-GCM-SHA256': 0x9c,
  'AES256-GCM-SHA384': 0x9d,
  'AES128-SHA': 0x2f,
  'AES256-SHA': 0x35,
};

const STRING_TYPE = 'type.googleapis.com/google.protobuf.StringValue';
/** The one flag whose field has another number than its bit. */
const DOWNSTREAM_REMOTE_RESET = 28;
const NANOS_PER_MS = 1_000_000;

export function commonProperties(
  info: StreamInfo,
  { filterState }: Pick<LogServiceConfig, 'filterState'>,
): readonly TraceField[] {
  const { connection } = info;
  return [
    address(2, 'downstream_remote_address', info.downstreamRemoteAddress),
    address(3, 'downstream_local_address', connection.localAddress),
    ...tlsProperties(info),
    field(5, 'start_time', { kind: 'timestamp', ms: info.startWallMs }),
    ...times(info),
    ...upstreamProperties(info),
    ...flags(info.responseFlags),
    ...metadata(info),
    text(19, 'route_name', info.routeName),
    address(20, 'downstream_direct_remote_address', connection.directRemoteAddress),
    ...filterStates(info, filterState),
    field(24, 'upstream_request_attempt_count', { kind: 'uint32', value: info.attemptCount }),
    text(25, 'connection_termination_details', connection.terminationDetails),
    text(26, 'stream_id', info.requestId),
    text(28, 'downstream_transport_failure_reason', connection.transportFailureReason),
    bytes(29, 'downstream_wire_bytes_sent', info.downstreamWireBytesSent),
    bytes(30, 'downstream_wire_bytes_received', info.downstreamWireBytesReceived),
    bytes(31, 'upstream_wire_bytes_sent', info.upstreamWireBytesSent),
    bytes(32, 'upstream_wire_bytes_received', info.upstreamWireBytesReceived),
    number(33, 'access_log_type', Math.max(0, LOG_TYPES.indexOf(info.accessLogType))),
  ];
}

/** Those that have come, counted from the beginning. */
function times(info: StreamInfo): readonly TraceField[] {
  const moments: readonly (readonly [number: number, name: string, ms: number])[] = [
    [6, 'time_to_last_rx_byte', info.lastDownstreamRxMs],
    [7, 'time_to_first_upstream_tx_byte', info.firstUpstreamTxMs],
    [8, 'time_to_last_upstream_tx_byte', info.lastUpstreamTxMs],
    [9, 'time_to_first_upstream_rx_byte', info.firstUpstreamRxMs],
    [10, 'time_to_last_upstream_rx_byte', info.lastUpstreamRxMs],
    [11, 'time_to_first_downstream_tx_byte', info.firstDownstreamTxMs],
    [12, 'time_to_last_downstream_tx_byte', info.lastDownstreamTxMs],
    [23, 'duration', info.endMs],
  ];
  return moments.flatMap(([at, name, ms]) =>
    ms < 0 ? [] : [message(at, name, duration(Math.max(0, ms - info.startMs)))],
  );
}

function duration(ms: number): readonly TraceField[] {
  const nanos = Math.floor((ms % 1000) * NANOS_PER_MS);
  return [bytes(1, 'seconds', Math.floor(ms / 1000)), number(2, 'nanos', nanos)];
}

function upstreamProperties(info: StreamInfo): readonly TraceField[] {
  const { upstreamHost: host, upstreamLocalAddress: local } = info;
  const remote = host && {
    kind: host.port === 0 ? ('pipe' as const) : ('ip' as const),
    ip: host.port === 0 ? host.address : host.ip,
    port: host.port,
  };
  return [
    ...(remote === undefined ? [] : [address(13, 'upstream_remote_address', remote)]),
    ...(local === undefined ? [] : [address(14, 'upstream_local_address', local)]),
    text(15, 'upstream_cluster', info.upstreamCluster),
    text(18, 'upstream_transport_failure_reason', info.upstreamTransportFailureReason),
  ];
}

function address(
  at: number,
  name: string,
  { kind, ip, port }: Pick<Address, 'kind' | 'ip' | 'port'>,
): TraceField {
  if (kind === 'pipe') return message(at, name, [message(2, 'pipe', [text(1, 'path', ip)])]);
  const socket = [text(2, 'address', ip), number(3, 'port_value', port)];
  return message(at, name, [message(1, 'socket_address', socket)]);
}

function tlsProperties({ connection }: StreamInfo): readonly TraceField[] {
  const { tls, requestedServerName } = connection;
  if (tls === undefined) return [];
  const suite = CIPHER_SUITES[tls.cipherSuite];
  return [
    message(4, 'tls_properties', [
      number(1, 'tls_version', Math.max(0, TLS_VERSIONS.indexOf(tls.version))),
      ...(suite === undefined ? [] : [message(2, 'tls_cipher_suite', [number(1, 'value', suite)])]),
      text(3, 'tls_sni_hostname', requestedServerName),
      certificate(4, 'local_certificate_properties', tls.local),
      certificate(5, 'peer_certificate_properties', tls.peer),
      text(6, 'tls_session_id', tls.sessionId),
    ]),
  ];
}

function certificate(at: number, name: string, facts: CertificateInfo | undefined): TraceField {
  if (facts === undefined) return message(at, name, []);
  const items = [
    ...facts.uriSans.map((san) => [text(1, 'uri', san)]),
    ...facts.dnsSans.map((san) => [text(2, 'dns', san)]),
  ];
  return message(at, name, [
    field(1, 'subject_alt_name', { kind: 'messages', items }),
    text(2, 'subject', facts.subject),
    text(3, 'issuer', facts.issuer),
  ]);
}

/** Each flag's field has its bit's number, counted from 1. */
function flags(bits: number): readonly TraceField[] {
  if (bits === 0) return [];
  const { unauthorizedExternalService: denied, downstreamRemoteReset: reset } = ResponseFlag;
  const fields: TraceField[] = [];
  for (let bit = 1, at = 1; bit <= ResponseFlag.dnsResolutionFailed; bit *= 2, at += 1) {
    if ((bits & bit) === 0) continue;
    if (bit === denied) fields.push(message(at, 'unauthorized_details', [number(1, 'reason', 1)]));
    else fields.push(flag(at));
  }
  if ((bits & reset) !== 0) fields.push(flag(DOWNSTREAM_REMOTE_RESET));
  return [message(16, 'response_flags', fields)];
}

function flag(at: number): TraceField {
  return field(at, 'flag', { kind: 'bool', value: true });
}

function metadata({ dynamicMetadata: known }: StreamInfo): readonly TraceField[] {
  if (known === undefined || known.size === 0) return [];
  const items = [...known].map(([filter, values]) => [
    text(1, 'key', filter),
    message(2, 'value', structFields(values)),
  ]);
  return [message(17, 'metadata', [field(1, 'filter_metadata', { kind: 'messages', items })])];
}

function filterStates(info: StreamInfo, names: readonly string[]): readonly TraceField[] {
  const items = names.flatMap((name) => {
    const state = filterStateOf(info, name);
    if (state === undefined) return [];
    const value = encodeTrace([text(1, 'value', state)]);
    const any = [
      text(1, 'type_url', STRING_TYPE),
      field(2, 'value', { kind: 'bytes', bytes: value }),
    ];
    return [[text(1, 'key', name), message(2, 'value', any)]];
  });
  return [field(21, 'filter_state_objects', { kind: 'messages', items })];
}
