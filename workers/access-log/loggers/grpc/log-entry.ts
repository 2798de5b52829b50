/**
 * An entry for a log service: envoy.data.accesslog.v3.HTTPAccessLogEntry and TCPAccessLogEntry with
 * the fields that Envoy fills, encoded.
 */
import type { LogServiceConfig } from '../../../../shared/resources/access-loggers/grpc.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import { encodeTrace, field, message, type TraceField } from '../../../tap/trace-message.ts';
import { bytes, number, text } from './entry-fields.ts';
import { commonProperties } from './log-entry-common.ts';

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

export function encodeEntry(info: StreamInfo, config: LogServiceConfig): Buffer {
  const common = message(1, 'common_properties', commonProperties(info, config));
  if (config.stream.entries === 'tcp') return encodeTrace([common, connectionProperties(info)]);
  const protocol = info.protocol === undefined ? 0 : PROTOCOLS[info.protocol];
  return encodeTrace([
    common,
    number(2, 'protocol_version', protocol),
    message(3, 'request', requestProperties(info, config)),
    message(4, 'response', responseProperties(info, config)),
  ]);
}

function connectionProperties(info: StreamInfo): TraceField {
  return message(2, 'connection_properties', [
    bytes(1, 'received_bytes', info.bytesReceived),
    bytes(2, 'sent_bytes', info.bytesSent),
  ]);
}

function requestProperties(info: StreamInfo, config: LogServiceConfig): readonly TraceField[] {
  const headers = info.requestHeaders;
  const get = (name: string): string => headers?.get(name) ?? '';
  return [
    number(1, 'request_method', Math.max(0, METHODS.indexOf(get(':method')))),
    text(2, 'scheme', get(':scheme')),
    text(3, 'authority', get(':authority')),
    text(5, 'path', get(':path')),
    text(6, 'user_agent', get('user-agent')),
    text(7, 'referer', get('referer')),
    text(8, 'forwarded_for', get('x-forwarded-for')),
    text(9, 'request_id', get('x-request-id')),
    text(10, 'original_path', get('x-envoy-original-path')),
    bytes(11, 'request_headers_bytes', headers?.byteSize() ?? 0),
    bytes(12, 'request_body_bytes', info.bytesReceived),
    headerMap(13, 'request_headers', headers, config.requestHeaders),
    bytes(14, 'upstream_header_bytes_sent', info.upstreamHeaderBytesSent),
    bytes(15, 'downstream_header_bytes_received', info.downstreamHeaderBytesReceived),
  ];
}

function responseProperties(info: StreamInfo, config: LogServiceConfig): readonly TraceField[] {
  const { responseHeaders: headers, responseTrailers: trailers, responseCode: code } = info;
  const status = code === 0 ? [] : [message(1, 'response_code', [number(1, 'value', code)])];
  return [
    ...status,
    bytes(2, 'response_headers_bytes', headers?.byteSize() ?? 0),
    bytes(3, 'response_body_bytes', info.bytesSent),
    headerMap(4, 'response_headers', headers, config.responseHeaders),
    headerMap(5, 'response_trailers', trailers, config.responseTrailers),
    text(6, 'response_code_details', info.responseCodeDetails),
    bytes(7, 'upstream_header_bytes_received', info.upstreamHeaderBytesReceived),
    bytes(8, 'downstream_header_bytes_sent', info.downstreamHeaderBytesSent),
  ];
}

/** Of headers that are there; several values of one name are joined by commas. */
function headerMap(
  at: number,
  name: string,
  headers: HeaderMap | undefined,
  wanted: readonly string[],
): TraceField {
  const items = wanted.flatMap((header) => {
    const value = headers?.getAll(header);
    return value === undefined ? [] : [[text(1, 'key', header), text(2, 'value', value)]];
  });
  return field(at, name, { kind: 'messages', items });
}
