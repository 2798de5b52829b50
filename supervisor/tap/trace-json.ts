/** A record of a tap as its JSON form has it, as far as other formats are made from it. */
import { isSecretHeader, REDACTED } from '../../shared/text/secret-names.ts';

export interface TraceHeader {
  readonly key?: string;
  readonly value?: string;
}

interface TraceBody {
  /** Base64. */
  readonly as_bytes?: string;
  readonly truncated?: boolean;
}

export interface TraceMessage {
  readonly headers?: readonly TraceHeader[];
  readonly trailers?: readonly TraceHeader[];
  readonly body?: TraceBody;
  readonly headers_received_time?: string;
}

interface TraceAddress {
  readonly socket_address?: { readonly address?: string; readonly port_value?: number };
}

export interface TraceConnection {
  readonly local_address?: TraceAddress;
  readonly remote_address?: TraceAddress;
}

export interface HttpTrace {
  readonly request?: TraceMessage;
  readonly response?: TraceMessage;
  readonly downstream_connection?: TraceConnection;
  readonly upstream_connection?: TraceConnection;
}

export interface SocketEvent {
  readonly timestamp?: string;
  readonly read?: { readonly data?: TraceBody };
  readonly write?: { readonly data?: TraceBody };
  readonly closed?: object;
}

export interface SocketSegment {
  readonly trace_id?: string;
  readonly connection?: TraceConnection;
  readonly event?: SocketEvent;
}

export interface TraceRecord {
  readonly http_buffered_trace?: HttpTrace;
  readonly socket_streamed_trace_segment?: SocketSegment;
}

/** The record without what is secret in its headers. */
export function withoutSecrets(record: TraceRecord): TraceRecord {
  const trace = record.http_buffered_trace;
  if (trace === undefined) return record;
  const { request, response } = trace;
  return {
    ...record,
    http_buffered_trace: {
      ...trace,
      ...(request !== undefined && { request: redacted(request) }),
      ...(response !== undefined && { response: redacted(response) }),
    },
  };
}

function redacted(message: TraceMessage): TraceMessage {
  const clean = (headers: readonly TraceHeader[]): readonly TraceHeader[] =>
    headers.map((header) =>
      isSecretHeader(header.key ?? '') ? { ...header, value: REDACTED } : header,
    );
  return {
    ...message,
    ...(message.headers !== undefined && { headers: clean(message.headers) }),
    ...(message.trailers !== undefined && { trailers: clean(message.trailers) }),
  };
}
