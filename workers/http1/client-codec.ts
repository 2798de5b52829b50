/**
 * The client side of one HTTP/1 connection: writes one request (request-writer.ts has that half),
 * reads its response, again and again. Owns framing and knows when the connection may carry another
 * request; pools and timeouts are its owner's. The encoder of the open request is the codec itself.
 */
import type { RequestEncoder, ResetReason, ResponseDecoder } from '../stream/codec.ts';
import { HeaderMap } from '../stream/header-map.ts';
import type { Wire } from '../net/wire.ts';
import { ChunkedDecoder, type ChunkedSink } from './chunked-decoder.ts';
import { HeadReader } from './head-reader.ts';
import type { HeaderBlockParser } from './header-block.ts';
import { isSuccess, parseResponseHead, type StatusLine } from './response-head.ts';
import { type Http1ClientLimits, Http1RequestWriter } from './request-writer.ts';
import { readTrailers } from './trailers.ts';

/** Informational responses that one request may bring, so that none runs for ever. */
const MAX_INFORMATIONAL = 32;
/** `H` of `HTTP/1.1`. */
const FIRST_BYTE = 0x48;
/** Envoy's words for what a message without a body must not say. */
const TRANSFER_ENCODING_NOT_ALLOWED = 'http1.transfer_encoding_not_allowed';
const CONTENT_LENGTH_NOT_ALLOWED = 'http1.content_length_not_allowed';
const EMPTY = Buffer.alloc(0);

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

export class Http1ClientCodec extends Http1RequestWriter implements RequestEncoder, ChunkedSink {
  readonly #owner: Http1ClientOwner;
  readonly #head: HeadReader;
  readonly #block: HeaderBlockParser;
  readonly #line: StatusLine = { isHttp10: false };
  readonly #chunks: ChunkedDecoder;
  #readState: ReadState = 'head';
  #bodyLeft = 0;
  #informational = 0;
  #reusable = true;
  #responsePauses = 0;
  headerBytesReceived = 0;
  wireBytesReceived = 0;

  constructor(wire: Wire, owner: Http1ClientOwner, limits: Http1ClientLimits) {
    super(wire, limits);
    this.#owner = owner;
    this.#head = new HeadReader(limits, (text, headers, block) =>
      parseResponseHead(text, headers, block, this.#line),
    );
    this.#block = this.#head.block;
    this.#chunks = new ChunkedDecoder(this);
  }

  protected get isUpgraded(): boolean {
    return this.#readState === 'upgraded';
  }

  get isBusy(): boolean {
    return this.stream !== undefined;
  }

  /** A body whose end is known has not come to it: a close now breaks the protocol. */
  get isInsideBody(): boolean {
    return this.stream !== undefined && KNOWN_END.has(this.#readState);
  }

  /** Begins an exchange; one at a time. */
  newStream(decoder: ResponseDecoder): RequestEncoder {
    this.stream = decoder;
    this.#readState = 'head';
    this.#informational = 0;
    this.beginRequest();
    this.#reusable = true;
    this.headerBytesReceived = 0;
    this.wireBytesReceived = 0;
    return this;
  }

  resetStream(): void {
    if (this.stream === undefined) return;
    this.#detach();
    this.#owner.onExchangeReset();
  }

  pauseResponse(paused: boolean): void {
    this.#responsePauses += paused ? 1 : -1;
    this.wire.pauseReading(paused);
  }

  onData(input: Buffer, start: number, end: number): void {
    let at = start;
    this.wireBytesReceived += end - start;
    while (at < end) {
      if (this.stream === undefined) {
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
    const stream = this.stream;
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
    this.stream?.onWriteBlocked(blocked);
  }

  onBody(piece: Buffer): void {
    this.stream?.decodeData(piece, false);
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
        this.stream?.decodeData(input.subarray(at, end), false);
        return end;
    }
  }

  #readHead(input: Buffer, start: number, end: number): number {
    // Unlike a request, a response has no empty lines before it.
    if (this.#head.isEmpty && input[start] !== FIRST_BYTE) {
      this.#fail('http1.codec_error');
      return end;
    }
    const headers = this.#head.read(input, start, end);
    if (headers === undefined) {
      if (this.#head.error !== undefined) this.#fail(this.#head.error.details);
      return end;
    }
    this.headerBytesReceived = this.#block.headerBytes;
    const { taken } = this.#head;
    this.#beginResponse(headers);
    return start + taken;
  }

  /** The answer that is read now comes in chunks. */
  get isChunked(): boolean {
    return this.#readState === 'chunked_body';
  }

  #beginResponse(headers: HeaderMap): void {
    const block = this.#block;
    if (this.#claimsBodyWrongly(headers)) return;
    if (headers.status < 200 && !(headers.status === 101 && this.isUpgradeRequest)) {
      this.#passInformational(headers);
      return;
    }
    if (block.sawClose || (this.#line.isHttp10 && !block.sawKeepAlive)) {
      this.#reusable = false;
      this.#owner.onCloseAnnounced();
    }
    const hasNoBody = this.#frameResponse(headers);
    // The answer to HEAD says how it would have been framed: by its length, or else by chunks.
    const announcesChunks = this.isHeadRequest && block.contentLength < 0;
    this.stream?.decodeHeaders(headers, hasNoBody && !announcesChunks);
    if (!hasNoBody) return;
    if (announcesChunks) this.stream?.decodeData(EMPTY, true);
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
    } else this.stream?.decode1xx(headers);
  }

  /** Decides how the body is framed (RFC 9112 section 6.3); true when there is none. */
  #frameResponse(headers: HeaderMap): boolean {
    const { status } = headers;
    const block = this.#block;
    const isAccepted =
      this.isUpgradeRequest && (this.isConnectRequest ? isSuccess(status) : status === 101);
    if (isAccepted) {
      this.#readState = 'upgraded';
      this.#reusable = false;
      return false;
    }
    headers.remove('upgrade');
    if (this.isHeadRequest || status === 204 || status === 304) return true;
    if (block.chunked) {
      this.#readState = 'chunked_body';
      this.#chunks.reset(this.limits.maxHeaderBytes);
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
    this.stream?.decodeData(input.subarray(start, start + length), isLast);
    if (isLast) this.#finishResponse();
    return start + length;
  }

  #readChunks(input: Buffer, start: number, end: number): number {
    const chunks = this.#chunks;
    const at = chunks.decode(input, start, end);
    if (this.stream === undefined) return at;
    if (chunks.error !== undefined) {
      this.#fail(chunks.error.details);
      return end;
    }
    if (chunks.isDone) this.#endChunks();
    return at;
  }

  #endChunks(): void {
    const trailers = readTrailers(this.#chunks.trailerText, this.#block, this.limits, false);
    if (trailers !== undefined && !(trailers instanceof HeaderMap))
      return this.#fail(trailers.details);
    if (trailers === undefined) this.stream?.decodeData(EMPTY, true);
    else this.stream?.decodeTrailers(trailers);
    this.#finishResponse();
  }

  #finishResponse(): void {
    if (this.stream === undefined) return;
    // A response before the whole request: the rest of it must not meet the next exchange.
    this.#detach();
    this.#owner.onExchangeDone(this.#reusable && this.requestDone);
  }

  #detach(): void {
    this.stream = undefined;
    this.#head.clear();
    while (this.#responsePauses > 0) this.pauseResponse(false);
  }

  #fail(details: string): void {
    const stream = this.stream;
    this.#detach();
    this.#owner.onProtocolError(details);
    stream?.onReset('protocol_error');
  }
}
