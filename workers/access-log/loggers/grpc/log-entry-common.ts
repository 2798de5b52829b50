/**
 * What entries of log services say of requests and of connections alike:
 * envoy.data.accesslog.v3.AccessLogCommon.
 */
import type { LogServiceConfig } from '../../../../shared/resources/access-loggers/grpc.ts';
import { ResponseFlag } from '../../../stream/response-flags.ts';
import { filterStateOf, type AccessLogType, type StreamInfo } from '../../../stream/stream-info.ts';
import type { Address, CertificateInfo } from '../../../net/connection-info.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import { writeStruct } from '../../../../shared/protobuf/struct-message.ts';
import { type CompiledTag, visitTags } from '../../../telemetry/custom-tags.ts';
import { headerText } from './entry-text.ts';

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

export function writeCommonProperties(
  writer: ProtoWriter,
  info: StreamInfo,
  { filterState }: Pick<LogServiceConfig, 'filterState'>,
  tags: readonly CompiledTag[],
): void {
  const { connection } = info;
  writeAddress(writer, 2, info.downstreamRemoteAddress);
  writeAddress(writer, 3, connection.localAddress);
  writeTls(writer, info);
  writeTimestamp(writer, 5, info.startWallMs);
  writeTimes(writer, info);
  writeUpstream(writer, info);
  writeFlags(writer, info.responseFlags);
  writeMetadata(writer, info);
  writer.text(19, headerText(info.routeName));
  writeAddress(writer, 20, connection.directRemoteAddress);
  writeFilterStates(writer, info, filterState);
  visitTags(tags, info, (name, value) => {
    writer.message(22, () => {
      writer.text(1, headerText(name));
      writer.text(2, headerText(value));
    });
  });
  writer.integer(24, info.attemptCount);
  writer.text(25, headerText(connection.terminationDetails));
  writer.text(26, headerText(info.requestId));
  writer.text(28, headerText(connection.transportFailureReason));
  writer.integer(29, info.downstreamWireBytesSent);
  writer.integer(30, info.downstreamWireBytesReceived);
  writer.integer(31, info.upstreamWireBytesSent);
  writer.integer(32, info.upstreamWireBytesReceived);
  writer.integer(33, Math.max(0, LOG_TYPES.indexOf(info.accessLogType)));
}

function writeTimestamp(writer: ProtoWriter, field: number, ms: number): void {
  writer.message(field, () => {
    writer.integer(1, Math.floor(ms / 1000));
    // Whole microseconds, as Envoy has them.
    writer.integer(2, Math.floor((ms % 1000) * 1000) * 1000);
  });
}

/** Those that have come, counted from the beginning. */
function writeTimes(writer: ProtoWriter, info: StreamInfo): void {
  const moments: readonly (readonly [field: number, ms: number])[] = [
    [6, info.lastDownstreamRxMs],
    [7, info.firstUpstreamTxMs],
    [8, info.lastUpstreamTxMs],
    [9, info.firstUpstreamRxMs],
    [10, info.lastUpstreamRxMs],
    [11, info.firstDownstreamTxMs],
    [12, info.lastDownstreamTxMs],
    [23, info.endMs],
  ];
  for (const [field, ms] of moments) {
    if (ms >= 0) writeDuration(writer, field, Math.max(0, ms - info.startMs));
  }
}

function writeDuration(writer: ProtoWriter, field: number, ms: number): void {
  writer.message(field, () => {
    writer.integer(1, Math.floor(ms / 1000));
    writer.integer(2, Math.floor((ms % 1000) * NANOS_PER_MS));
  });
}

function writeUpstream(writer: ProtoWriter, info: StreamInfo): void {
  const { upstreamHost: host, upstreamLocalAddress: local } = info;
  if (host !== undefined) {
    const { address: path, ip, port } = host;
    if (port === 0) writeAddress(writer, 13, { kind: 'pipe', ip: path, port });
    else writeAddress(writer, 13, { kind: 'ip', ip, port });
  }
  if (local !== undefined) writeAddress(writer, 14, local);
  writer.text(15, headerText(info.upstreamCluster));
  writer.text(18, headerText(info.upstreamTransportFailureReason));
}

function writeAddress(
  writer: ProtoWriter,
  field: number,
  { kind, ip, port }: Pick<Address, 'kind' | 'ip' | 'port'>,
): void {
  writer.message(field, () => {
    if (kind === 'pipe') return writer.message(2, () => writer.text(1, headerText(ip)));
    writer.message(1, () => {
      writer.text(2, headerText(ip));
      writer.integer(3, port);
    });
  });
}

function writeTls(writer: ProtoWriter, { connection }: StreamInfo): void {
  const { tls, requestedServerName } = connection;
  if (tls === undefined) return;
  const suite = CIPHER_SUITES[tls.cipherSuite];
  writer.message(4, () => {
    writer.integer(1, Math.max(0, TLS_VERSIONS.indexOf(tls.version)));
    if (suite !== undefined) writer.message(2, () => writer.integer(1, suite));
    writer.text(3, headerText(requestedServerName));
    writeCertificate(writer, 4, tls.local);
    writeCertificate(writer, 5, tls.peer);
    writer.text(6, headerText(tls.sessionId));
  });
}

function writeCertificate(
  writer: ProtoWriter,
  field: number,
  facts: CertificateInfo | undefined,
): void {
  writer.message(field, () => {
    if (facts === undefined) return;
    for (const san of facts.uriSans) writer.message(1, () => writer.text(1, headerText(san)));
    for (const san of facts.dnsSans) writer.message(1, () => writer.text(2, headerText(san)));
    writer.text(2, headerText(facts.subject));
    writer.text(3, headerText(facts.issuer));
  });
}

/** Each flag's field has its bit's number, counted from 1. */
function writeFlags(writer: ProtoWriter, bits: number): void {
  if (bits === 0) return;
  const { unauthorizedExternalService: denied, downstreamRemoteReset: reset } = ResponseFlag;
  writer.message(16, () => {
    for (let bit = 1, at = 1; bit <= ResponseFlag.dnsResolutionFailed; bit *= 2, at += 1) {
      if ((bits & bit) === 0) continue;
      if (bit === denied) writer.message(at, () => writer.integer(1, 1));
      else writer.integer(at, 1);
    }
    if ((bits & reset) !== 0) writer.integer(DOWNSTREAM_REMOTE_RESET, 1);
  });
}

function writeMetadata(writer: ProtoWriter, info: StreamInfo): void {
  const { dynamicMetadata: untyped, typedMetadata: typed } = info;
  if ((untyped?.size ?? 0) === 0 && (typed?.size ?? 0) === 0) return;
  writer.message(17, () => {
    for (const [filter, values] of untyped ?? []) {
      writer.message(1, () => {
        writer.text(1, headerText(filter));
        writeStruct(writer, 2, values);
      });
    }
    for (const [filter, any] of typed ?? []) {
      writer.message(2, () => {
        writer.text(1, headerText(filter));
        writer.bytes(2, any);
      });
    }
  });
}

function writeFilterStates(writer: ProtoWriter, info: StreamInfo, names: readonly string[]): void {
  for (const name of names) {
    const state = filterStateOf(info, name);
    if (state === undefined) continue;
    writer.message(21, () => {
      writer.text(1, headerText(name));
      writer.message(2, () => {
        writer.text(1, STRING_TYPE);
        const value = new ProtoWriter();
        value.text(1, headerText(state));
        writer.bytes(2, value.finish());
      });
    });
  }
}
