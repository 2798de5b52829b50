/**
 * An entry for a log service: envoy.data.accesslog.v3.HTTPAccessLogEntry and TCPAccessLogEntry with
 * the fields that Envoy fills, encoded.
 */
import type { LogServiceConfig } from '../../../../shared/resources/access-loggers/grpc.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import type { CompiledTag } from '../../../telemetry/custom-tags.ts';
import { headerText } from './entry-text.ts';
import { writeCommonProperties } from './log-entry-common.ts';

const PROTOCOLS = { 'HTTP/1.0': 1, 'HTTP/1.1': 2, 'HTTP/2': 3, 'HTTP/3': 4 } as const;

const METHODS: readonly string[] = [
  '',
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
];

/** By field, in the order of their numbers; some of them stand between numbers. */
const REQUEST_TEXTS = [
  [2, ':scheme'],
  [3, ':authority'],
  [5, ':path'],
  [6, 'user-agent'],
  [7, 'referer'],
  [8, 'x-forwarded-for'],
  [9, 'x-request-id'],
  [10, 'x-envoy-original-path'],
] as const;

export function encodeEntry(
  info: StreamInfo,
  config: LogServiceConfig,
  tags: readonly CompiledTag[],
): Buffer {
  const writer = new ProtoWriter();
  writer.message(1, () => writeCommonProperties(writer, info, config, tags));
  if (config.stream.entries === 'tcp') {
    writer.message(2, () => {
      writer.integer(1, info.bytesReceived);
      writer.integer(2, info.bytesSent);
    });
    return writer.finish();
  }
  writer.integer(2, info.protocol === undefined ? 0 : PROTOCOLS[info.protocol]);
  writer.message(3, () => writeRequest(writer, info, config));
  writer.message(4, () => writeResponse(writer, info, config));
  return writer.finish();
}

function writeRequest(writer: ProtoWriter, info: StreamInfo, config: LogServiceConfig): void {
  const headers = info.requestHeaders;
  writer.integer(1, Math.max(0, METHODS.indexOf(headers?.get(':method') ?? '')));
  for (const [field, name] of REQUEST_TEXTS) {
    writer.text(field, headerText(headers?.get(name) ?? ''));
  }
  writer.integer(11, headers?.byteSize() ?? 0);
  writer.integer(12, info.bytesReceived);
  writeHeaders(writer, 13, headers, config.requestHeaders);
  writer.integer(14, info.upstreamHeaderBytesSent);
  writer.integer(15, info.downstreamHeaderBytesReceived);
}

function writeResponse(writer: ProtoWriter, info: StreamInfo, config: LogServiceConfig): void {
  const { responseHeaders: headers, responseTrailers: trailers, responseCode: code } = info;
  if (code !== 0) writer.message(1, () => writer.integer(1, code));
  writer.integer(2, headers?.byteSize() ?? 0);
  writer.integer(3, info.bytesSent);
  writeHeaders(writer, 4, headers, config.responseHeaders);
  writeHeaders(writer, 5, trailers, config.responseTrailers);
  writer.text(6, headerText(info.responseCodeDetails));
  writer.integer(7, info.upstreamHeaderBytesReceived);
  writer.integer(8, info.downstreamHeaderBytesSent);
}

/** Writes the headers that are there; several values of one name are joined by commas. */
function writeHeaders(
  writer: ProtoWriter,
  field: number,
  headers: HeaderMap | undefined,
  wanted: readonly string[],
): void {
  for (const name of wanted) {
    const value = headers?.getAll(name);
    if (value === undefined) continue;
    writer.message(field, () => {
      writer.text(1, headerText(name));
      writer.text(2, headerText(value));
    });
  }
}
