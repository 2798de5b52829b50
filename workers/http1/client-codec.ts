/**
 * The client side of one HTTP/1 connection: writes one request, reads its response, again and
 * again. Owns framing and knows when the connection may carry another request; pools and timeouts
 * are its owner's. The encoder of the open request is the codec itself.
 */
import type { RequestEncoder, ResetReason, ResponseDecoder } from '../stream/codec.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { dropUnfit, invalidValue, requestFault } from '../stream/message-door.ts';
import type { Wire } from '../net/wire.ts';
import { ChunkedDecoder, type ChunkedSink } from './chunked-decoder.ts';
import { HeadReader } from './head-reader.ts';
import { HeaderBlockParser } from './header-block.ts';
import { isHeadTooLarge, type MessageLimits, mostHeadBytes } from './message-limits.ts';
import { parseResponseHead, type StatusLine } from './response-head.ts';
import {
  CHUNKED_LINE,
  CRLF,
  EMPTY_BODY_LINE,
  framingLine,
  headerLines,
  lastChunk,
  requestLine,
  UPGRADE_LINE,
  hostLine,
} from './serialise.ts';

/** Informational responses that one request may bring, so that none runs for ever. */
const MAX_INFORMATIONAL = 32;
/** `H` of `HTTP/1.1`. */
const FIRST_BYTE = 0x48;
/** Envoy's words for what a message without a body must not say. */
const TRANSFER_ENCODING_NOT_ALLOWED = 'http1.transfer_encoding_not_allowed';
const CONTENT_LENGTH_NOT_ALLOWED = 'http1.content_length_not_allowed';
const EMPTY = Buffer.alloc(0);
/** Other methods say `content-length: 0` when their request has no body. */
const BODILESS_METHODS = new Set(['GET', 'HEAD', 'DELETE', 'TRACE', 'CONNECT']);

export interface Http1ClientLimits extends MessageLimits {
  /** Requests are this server's own, such as checks of hosts: the operator wrote their targets. */
  readonly isOwnRequest: boolean;
}

export interface Http1ClientOwner {
  /** The exchange is complete; `reusable` says whether another may follow on this connection. */
  onExchangeDone(reusable: boolean): void;
  /** The exchange was given up; the connection cannot be used any more. */
  onExchangeReset(): void;
  /** The upstream broke the protocol; the open exchange has been reset already. */
  onProtocolError(details: string): void;
  /** The upstream announced that it will close after this response. */
  onCloseAnnounced(): void;
}

type ReadState = 'head' | 'fixed_body' | 'chunked_body' | 'until_close' | 'upgraded';

/** While a body of known length, or one in chunks, is read. */
const KNOWN_END: ReadonlySet<ReadState> = new Set(['fixed_body', 'chunked_body']);

export class Http1ClientCodec implements RequestEncoder, ChunkedSink {
  readonly #wire: Wire;
  readonly #owner: Http1ClientOwner;
  readonly #limits: Http1ClientLimits;
  readonly #head: HeadReader;
  readonly #block: HeaderBlockParser;
  readonly #line: StatusLine = { isHttp10: false };
  readonly #chunks: ChunkedDecoder;
  #stream: ResponseDecoder | undefined = undefined;
  #readState: ReadState = 'head';
  #bodyLeft = 0;
  #informational = 0;
  #isHeadRequest = false;
  #isUpgradeRequest = false;
  #isConnectRequest = false;
  #requestDone = false;
  #chunkedRequest = false;
  /** Of the body that the head announced by its length; -1 where no length says its end. */
  #requestLeft = -1;
  #reusable = true;
  #responsePauses = 0;
  headerBytesSent = 0;
  wireBytesSent = 0;
  headerBytesReceived = 0;
  wireBytesReceived = 0;

  constructor(wire: Wire, owner: Http1ClientOwner, limits: Http1ClientLimits) {
    this.#wire = wire;
    this.#owner = owner;
    this.#limits = limits;
    this.#head = new HeadReader(mostHeadBytes(limits));
    this.#block = new HeaderBlockParser(limits);
    this.#chunks = new ChunkedDecoder(this);
  }

  get isBusy(): boolean {
    return this.#stream !== undefined;
  }

  /** A body whose end is known has not come to it: a close now breaks the protocol. */
  get isInsideBody(): boolean {
    return this.#stream !== undefined && KNOWN_END.has(this.#readState);
  }

  /** Begins an exchange; one at a time. */
  newStream(decoder: ResponseDecoder): RequestEncoder {
    this.#stream = decoder;
    this.#readState = 'head';
    this.#informational = 0;
    this.#requestDone = false;
    this.#chunkedRequest = false;
    this.#requestLeft = -1;
    this.#reusable = true;
    this.headerBytesSent = 0;
    this.wireBytesSent = 0;
    this.headerBytesReceived = 0;
    this.wireBytesReceived = 0;
    return this;
  }

  encodeHeaders(headers: HeaderMap, endStream: boolean): string | undefined {
    const fault =
      requestFault(headers, this.#limits.isOwnRequest) ?? this.#noteLength(headers, endStream);
    if (fault !== undefined) {
      this.resetStream();
      return fault;
    }
    this.#writeHead(headers, endStream);
    return undefined;
  }

  /** Notes how much body the head announces, and says what is wrong with that. */
  #noteLength(headers: HeaderMap, endStream: boolean): string | undefined {
    const length = headers.get('content-length');
    if (length === undefined || headers.method === 'CONNECT') return undefined;
    this.#requestLeft = Number(length);
    const isShort = endStream && this.#requestLeft > 0;
    return isShort ? invalidValue('content-length') : undefined;
  }

  #writeHead(headers: HeaderMap, endStream: boolean): void {
    const { method } = headers;
    this.#isHeadRequest = method === 'HEAD';
    this.#isConnectRequest = method === 'CONNECT';
    this.#isUpgradeRequest = this.#isConnectRequest || headers.has('upgrade');
    let framing = '';
    if (this.#isUpgradeRequest) {
      this.#requestLeft = -1;
      framing = this.#isConnectRequest || headers.has('connection') ? '' : UPGRADE_LINE;
    } else if (this.#requestLeft < 0) {
      if (!endStream) {
        framing = CHUNKED_LINE;
        this.#chunkedRequest = true;
      } else if (!BODILESS_METHODS.has(method)) framing = EMPTY_BODY_LINE;
    }
    const { headerCase } = this.#limits;
    const lines =
      hostLine(headers, headerCase) +
      headerLines(headers, headerCase) +
      framingLine(framing, headerCase);
    // As Envoy counts headers: without start line and empty line.
    this.headerBytesSent = lines.length;
    this.#write(requestLine(headers) + lines + CRLF);
    if (endStream) this.#finishRequest();
  }

  encodeData(data: Buffer, endStream: boolean): void {
    if (this.#requestLeft >= 0 && !this.#fitsLength(data.length, endStream)) return;
    if (data.length > 0) {
      if (this.#chunkedRequest) this.#write(data.length.toString(16) + CRLF);
      this.wireBytesSent += data.length;
      this.#wire.writeData(data);
      if (this.#chunkedRequest) this.#write(CRLF);
    }
    if (!endStream) return;
    if (this.#chunkedRequest) this.#write(lastChunk(undefined));
    this.#finishRequest();
  }

  /**
   * A body that is longer or shorter than the head says would end elsewhere for the host than here:
   * the exchange ends instead, and its connection with it.
   */
  #fitsLength(bytes: number, endStream: boolean): boolean {
    this.#requestLeft -= bytes;
    if (this.#requestLeft === 0 || (this.#requestLeft > 0 && !endStream)) return true;
    const stream = this.#stream;
    this.resetStream();
    stream?.onReset('local_reset');
    return false;
  }

  encodeTrailers(trailers: HeaderMap): void {
    if (this.#requestLeft > 0 && !this.#fitsLength(0, true)) return;
    if (this.#chunkedRequest) {
      dropUnfit(trailers);
      this.#write(lastChunk(this.#limits.enableTrailers ? trailers : undefined));
    }
    this.#finishRequest();
  }

  resetStream(): void {
    if (this.#stream === undefined) return;
    this.#detach();
    this.#owner.onExchangeReset();
  }

  pauseResponse(paused: boolean): void {
    this.#responsePauses += paused ? 1 : -1;
    this.#wire.pauseReading(paused);
  }

  onData(input: Buffer, start: number, end: number): void {
    let at = start;
    this.wireBytesReceived += end - start;
    while (at < end) {
      if (this.#stream === undefined) {
        // Nothing was asked: an answer here would be taken for the next request's.
        this.#owner.onProtocolError('http1.unsolicited_response');
        return;
      }
      at = this.#readSome(input, at, end);
    }
  }

  /**
   * The connection is gone: resets the open exchange, or completes it when the upstream closed in
   * order (`isOrderly`) and the close is what ends the body.
   */
  onTransportClosed(reason: ResetReason, isOrderly: boolean): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    if (isOrderly && (this.#readState === 'until_close' || this.#readState === 'upgraded')) {
      this.#detach();
      stream.decodeData(EMPTY, true);
      return;
    }
    this.#detach();
    stream.onReset(isOrderly && KNOWN_END.has(this.#readState) ? 'protocol_error' : reason);
  }

  onWriteBlocked(blocked: boolean): void {
    this.#stream?.onWriteBlocked(blocked);
  }

  onBody(piece: Buffer): void {
    this.#stream?.decodeData(piece, false);
  }

  #write(text: string): void {
    this.wireBytesSent += text.length;
    this.#wire.writeText(text);
  }

  #readSome(input: Buffer, at: number, end: number): number {
    switch (this.#readState) {
      case 'head':
        return this.#readHead(input, at, end);
      case 'fixed_body':
        return this.#readFixed(input, at, end);
      case 'chunked_body':
        return this.#readChunks(input, at, end);
      case 'until_close':
      case 'upgraded':
        this.#stream?.decodeData(input.subarray(at, end), false);
        return end;
    }
  }

  #readHead(input: Buffer, start: number, end: number): number {
    const stored = this.#head.stored;
    // Unlike a request, a response has no empty lines before it.
    if (stored === 0 && input[start] !== FIRST_BYTE) {
      this.#fail('http1.codec_error');
      return end;
    }
    const text = this.#head.read(input, start, end);
    if (text === undefined) {
      if (this.#head.isTooLarge) this.#fail('http1.headers_too_large');
      return end;
    }
    const headers = new HeaderMap();
    if (this.#limits.headerCase === 'preserve') headers.originalNames = [];
    const error = parseResponseHead(text, headers, this.#block, this.#line);
    this.#head.clear();
    if (error !== undefined) {
      this.#fail(error.details);
      return end;
    }
    if (isHeadTooLarge(this.#block.end, headers.count, this.#limits)) {
      this.#fail('http1.headers_too_large');
      return end;
    }
    this.headerBytesReceived = this.#block.headerBytes;
    const consumed = this.#block.end - stored;
    this.#beginResponse(headers);
    return start + consumed;
  }

  /** The answer that is read now comes in chunks. */
  get isChunked(): boolean {
    return this.#readState === 'chunked_body';
  }

  #beginResponse(headers: HeaderMap): void {
    const block = this.#block;
    if (this.#claimsBodyWrongly(headers)) return;
    if (headers.status < 200 && !(headers.status === 101 && this.#isUpgradeRequest)) {
      this.#passInformational(headers);
      return;
    }
    if (block.sawClose || (this.#line.isHttp10 && !block.sawKeepAlive)) {
      this.#reusable = false;
      this.#owner.onCloseAnnounced();
    }
    const hasNoBody = this.#frameResponse(headers);
    // The answer to HEAD says how it would have been framed: by its length, or else by chunks.
    const announcesChunks = this.#isHeadRequest && block.contentLength < 0;
    this.#stream?.decodeHeaders(headers, hasNoBody && !announcesChunks);
    if (!hasNoBody) return;
    if (announcesChunks) this.#stream?.decodeData(EMPTY, true);
    this.#finishResponse();
  }

  /**
   * Refuses 1xx and 204 that claim a body: the peer may go on to send it (RFC 9110 section 8.6).
   */
  #claimsBodyWrongly(headers: HeaderMap): boolean {
    if (headers.status >= 200 && headers.status !== 204) return false;
    const { chunked, contentLength } = this.#block;
    headers.remove('content-length');
    if (!chunked && contentLength <= 0) return false;
    this.#fail(chunked ? TRANSFER_ENCODING_NOT_ALLOWED : CONTENT_LENGTH_NOT_ALLOWED);
    return true;
  }

  #passInformational(headers: HeaderMap): void {
    if (headers.status === 101 || ++this.#informational > MAX_INFORMATIONAL) {
      this.#fail('http1.unexpected_informational_response');
    } else this.#stream?.decode1xx(headers);
  }

  /** Decides how the body is framed (RFC 9112 section 6.3); true when there is none. */
  #frameResponse(headers: HeaderMap): boolean {
    const { status } = headers;
    const block = this.#block;
    const isAccepted =
      this.#isUpgradeRequest && (this.#isConnectRequest ? isSuccess(status) : status === 101);
    if (isAccepted) {
      this.#readState = 'upgraded';
      this.#reusable = false;
      return false;
    }
    headers.remove('upgrade');
    if (this.#isHeadRequest || status === 204 || status === 304) return true;
    if (block.chunked) {
      this.#readState = 'chunked_body';
      this.#chunks.reset(this.#limits.maxHeaderBytes);
      return false;
    }
    if (block.contentLength >= 0) {
      this.#readState = 'fixed_body';
      this.#bodyLeft = block.contentLength;
      return block.contentLength === 0;
    }
    this.#readState = 'until_close';
    this.#reusable = false;
    return false;
  }

  #readFixed(input: Buffer, start: number, end: number): number {
    const length = Math.min(this.#bodyLeft, end - start);
    this.#bodyLeft -= length;
    const isLast = this.#bodyLeft === 0;
    this.#stream?.decodeData(input.subarray(start, start + length), isLast);
    if (isLast) this.#finishResponse();
    return start + length;
  }

  #readChunks(input: Buffer, start: number, end: number): number {
    const chunks = this.#chunks;
    const at = chunks.decode(input, start, end);
    if (this.#stream === undefined) return at;
    if (chunks.error !== undefined) {
      this.#fail(chunks.error.details);
      return end;
    }
    if (chunks.isDone) this.#endChunks();
    return at;
  }

  #endChunks(): void {
    const { trailerText } = this.#chunks;
    const trailers = new HeaderMap();
    if (trailerText !== CRLF) {
      const error = this.#block.parse(trailerText, 0, trailers, false);
      if (error !== undefined) {
        this.#fail(error.details);
        return;
      }
      trailers.remove('content-length');
    }
    if (this.#limits.enableTrailers && trailers.count > 0) this.#stream?.decodeTrailers(trailers);
    else this.#stream?.decodeData(EMPTY, true);
    this.#finishResponse();
  }

  #finishRequest(): void {
    this.#requestDone = true;
    if (this.#isConnectRequest && this.#readState === 'upgraded') this.#wire.endWriting?.();
  }

  #finishResponse(): void {
    if (this.#stream === undefined) return;
    // A response before the whole request: the rest of it must not meet the next exchange.
    this.#detach();
    this.#owner.onExchangeDone(this.#reusable && this.#requestDone);
  }

  #detach(): void {
    this.#stream = undefined;
    this.#head.clear();
    while (this.#responsePauses > 0) this.pauseResponse(false);
  }

  #fail(details: string): void {
    const stream = this.#stream;
    this.#detach();
    this.#owner.onProtocolError(details);
    stream?.onReset('protocol_error');
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
