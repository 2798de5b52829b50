/** Builds the messages of answers that are made here, as Envoy words them. */
import { grpcStatusOfHttp } from '../../shared/substitution/grpc-status-of-http.ts';
import type { LocalReply } from '../stream/filter.ts';
import { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { isGrpcContentType } from '../stream/grpc-status.ts';
import { grpcMessageOf } from '../stream/grpc-message.ts';

/** An answer before it is framed; `body` has one character per byte. */
export interface WordedReply {
  body: string;
  /** Undefined: `text/plain`, unless the headers have a type already. */
  contentType: string | undefined;
}

/** How a connection manager words them. */
export type LocalReplyRewriter = (headers: HeaderMap, reply: WordedReply, info: StreamInfo) => void;

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
  const { wholeHeaders } = reply;
  if (wholeHeaders !== undefined) {
    const whole = toBuffer(reply.body);
    return { headers: wholeHeaders, body: whole.length > 0 ? whole : undefined };
  }
  const { requestHeaders: request } = info;
  const headers = new HeaderMap();
  headers.status = reply.status;
  info.route?.finalizeResponseHeaders(headers, info);
  reply.modifyHeaders?.(headers);
  const { body, contentType } = wordReply(headers, reply, info, rewrite);
  if (info.isGrpcClient ?? isGrpcContentType(request?.get('content-type'))) {
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
  headers.set('grpc-status', String(own ?? grpcStatusOfHttp(headers.status)));
  if (body.length > 0) headers.set('grpc-message', grpcMessageOf(body));
  headers.status = 200;
}

/** A route's own header changes win over the default, the reply's own type over both. */
function setContentType(headers: HeaderMap, own: string | undefined): void {
  if (own !== undefined) headers.set('content-type', own);
  else if (!headers.has('content-type')) headers.add('content-type', 'text/plain');
}

function toBuffer(body: string | Uint8Array): Buffer {
  if (typeof body === 'string') return Buffer.from(body, 'latin1');
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
