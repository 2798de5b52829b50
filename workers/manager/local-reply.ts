/** Builds the messages of answers that are made here, as Envoy words them. */
import type { LocalReply } from '../stream/filter.ts';
import { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { LocalReplyRewriter } from './local-reply-rewriter.ts';
import { isGrpcContentType } from '../stream/grpc-status.ts';

const GRPC_INTERNAL = 13;
const GRPC_UNKNOWN = 2;
/** gRPC's own mapping of HTTP status codes (doc/http-grpc-status-mapping). */
const GRPC_STATUSES: Readonly<Record<number, number>> = {
  400: GRPC_INTERNAL,
  401: 16,
  403: 7,
  404: 12,
  429: 14,
  502: 14,
  503: 14,
  504: 14,
};

export interface LocalMessage {
  readonly headers: HeaderMap;
  /** Undefined when the headers are all. */
  readonly body: Buffer | undefined;
}

/** The answers where a filter holds more of a message than may be held. */
export const tooLarge = {
  request: {
    status: 413,
    body: 'Payload Too Large',
    details: 'request_payload_too_large',
    closesConnection: true,
  },
  response: {
    status: 500,
    body: 'Internal Server Error',
    details: 'response_payload_too_large',
  },
} as const;

/** The answer where nothing that is configured can be trusted to word one. */
export function internalError(): HeaderMap {
  const headers = new HeaderMap();
  headers.status = 500;
  return headers;
}

/**
 * The answer to the stream's request, which may be missing when the codec refused its head.
 * `rewrite` words it as the connection manager is configured to.
 */
export function buildLocalReply(
  reply: LocalReply,
  info: StreamInfo,
  rewrite: LocalReplyRewriter | undefined,
): LocalMessage {
  const { requestHeaders: request } = info;
  const headers = new HeaderMap();
  headers.status = reply.status;
  info.route?.finalizeResponseHeaders(headers, info);
  reply.modifyHeaders?.(headers);
  const { body, contentType } = wordReply(headers, reply, info, rewrite);
  if (request !== undefined && isGrpcContentType(request.get('content-type'))) {
    toGrpc(headers, body, reply.grpcStatus);
    return { headers, body: undefined };
  }
  if (body.length > 0) {
    headers.set('content-length', String(body.length));
    setContentType(headers, contentType);
  } else {
    headers.remove('content-length');
    headers.remove('content-type');
  }
  const hasBody = body.length > 0 && request?.method !== 'HEAD';
  return { headers, body: hasBody ? body : undefined };
}

function wordReply(
  headers: HeaderMap,
  reply: LocalReply,
  info: StreamInfo,
  rewrite: LocalReplyRewriter | undefined,
): { readonly body: Buffer; readonly contentType: string | undefined } {
  const { contentType } = reply;
  const body = toBuffer(reply.body);
  if (rewrite === undefined) return { body, contentType };
  const worded = { body: body.toString('latin1'), contentType };
  rewrite(headers, worded, info);
  return { body: toBuffer(worded.body), contentType: worded.contentType };
}

function toGrpc(headers: HeaderMap, body: Buffer, own: number | undefined): void {
  headers.set('content-type', 'application/grpc');
  headers.set('grpc-status', String(own ?? GRPC_STATUSES[headers.status] ?? GRPC_UNKNOWN));
  if (body.length > 0) headers.set('grpc-message', percentEncoded(body));
  headers.status = 200;
}

/** A route's own header changes win over the default, the reply's own type over both. */
function setContentType(headers: HeaderMap, own: string | undefined): void {
  if (own !== undefined) headers.set('content-type', own);
  else if (!headers.has('content-type')) headers.add('content-type', 'text/plain');
}

/** gRPC's encoding of messages: everything outside printable ASCII, and `%`. */
function percentEncoded(body: Buffer): string {
  let text = '';
  for (const byte of body) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    text += isPlain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}

function toBuffer(body: string | Uint8Array): Buffer {
  if (typeof body === 'string') return Buffer.from(body, 'latin1');
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
