/**
 * The writing half of the server side of an HTTP/1 connection: heads, bodies and trailers of
 * responses, how they are framed, and when they say that the connection ends.
 */
import type { Wire } from '../net/wire.ts';
import type { ServerCodecOwner } from '../stream/codec.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { dropUnfit, mendStatus } from '../stream/message-door.ts';
import type { HeaderBlockParser } from './header-block.ts';
import type { MessageLimits } from './message-limits.ts';
import type { RequestHeadOptions, RequestLine } from './request-head.ts';
import { AS_IT_STANDS, frameResponse, type ResponseFraming } from './response-framing.ts';
import {
  CONTINUE,
  CRLF,
  framingLine,
  headerLines,
  informational,
  lastChunk,
  statusLine,
  statusLine10,
} from './serialise.ts';

export interface Http1ServerLimits extends RequestHeadOptions, MessageLimits {}

export abstract class Http1ResponseWriter {
  protected readonly wire: Wire;
  protected readonly owner: ServerCodecOwner;
  protected readonly limits: Http1ServerLimits;
  protected readonly line: RequestLine = { isHttp10: false };
  /** Set by the request, the response or a drain: the connection ends after this exchange. */
  protected closeAfter = false;
  /** The client waits for the close, or it is this side's to do. */
  protected isCloseAsked = false;
  /** Responses say goodbye, but the connection stays open for the client to close. */
  #announcesClose = false;
  #isHead = false;
  #isConnect = false;
  protected responseStarted = false;
  /** Bytes left of the body whose length the response announced; -1 where no length says its end. */
  protected responseLeft = -1;
  #framing: ResponseFraming = AS_IT_STANDS;
  headerBytesSent = 0;
  wireBytesSent = 0;

  protected constructor(wire: Wire, owner: ServerCodecOwner, limits: Http1ServerLimits) {
    this.wire = wire;
    this.owner = owner;
    this.limits = limits;
  }

  /** The whole request was read. */
  protected abstract readonly isRequestRead: boolean;

  /** The whole response was written. */
  protected abstract finishResponse(): void;

  /** Nothing is known of the next exchange. */
  protected beginExchange(): void {
    this.headerBytesSent = 0;
    this.wireBytesSent = 0;
    this.responseStarted = false;
    this.#isHead = false;
    this.#isConnect = false;
    this.line.isHttp10 = false;
  }

  /** What the request says of its answer. */
  protected noteRequest(method: string, { sawKeepAlive, sawClose }: HeaderBlockParser): void {
    this.#isHead = method === 'HEAD';
    this.#isConnect = method === 'CONNECT';
    if (!sawClose && (sawKeepAlive || !this.line.isHttp10)) return;
    this.endWithClose();
  }

  /** The connection ends after this exchange, and nobody else closes it. */
  protected endWithClose(): void {
    this.closeAfter = true;
    this.isCloseAsked = true;
  }

  startDrain(isOurs: boolean): void {
    this.closeAfter = true;
    if (isOurs) this.isCloseAsked = true;
  }

  announceClose(): void {
    this.#announcesClose = true;
  }

  pauseRequest(paused: boolean): void {
    this.wire.pauseReading(paused);
  }

  encode1xx(headers: HeaderMap): void {
    if (this.line.isHttp10) return;
    this.#letThrough(headers);
    const text = headers.status === 100 && headers.count === 0 ? CONTINUE : informational(headers);
    this.#write(text);
  }

  encodeHeaders(headers: HeaderMap, endStream: boolean): void {
    this.#letThrough(headers);
    this.#noteParts(mendStatus(headers));
    const isTunnel = this.#isConnect && headers.status >= 200 && headers.status < 300;
    const isUpgrade = isTunnel || (headers.status === 101 && headers.has('upgrade'));
    // A response before the whole request: nobody waits for the rest of it.
    if (!this.isRequestRead) this.closeAfter = true;
    const framing = isUpgrade ? AS_IT_STANDS : this.#frame(headers, endStream);
    this.#framing = framing;
    const length =
      framing === AS_IT_STANDS && !isUpgrade ? headers.get('content-length') : undefined;
    this.responseLeft = length === undefined ? -1 : Number(length);
    this.responseStarted = true;
    const { status } = headers;
    const start = this.line.isHttp10 ? statusLine10(status) : statusLine(status);
    const connection = isTunnel ? '' : this.#connectionOption(isUpgrade);
    // In the map, because access logs show it and count it.
    if (connection !== '') headers.set('connection', connection);
    const { headerCase } = this.limits;
    const lines = headerLines(headers, headerCase) + framingLine(framing.line, headerCase);
    // As Envoy counts headers: without start line and empty line.
    this.headerBytesSent += lines.length;
    this.#write(start + lines + CRLF);
    if (endStream) this.finishResponse();
  }

  /**
   * A body that is longer or shorter than its head says would end elsewhere for the client than
   * here: no more of it is sent than was announced, and the connection ends.
   */
  encodeData(data: Buffer, endStream: boolean): void {
    if (this.responseLeft < 0 || data.length <= this.responseLeft) {
      this.responseLeft -= data.length;
      this.#writeBody(data, endStream);
      return;
    }
    this.closeAfter = true;
    this.#noteParts(1);
    const fitting = data.subarray(0, this.responseLeft);
    this.responseLeft = 0;
    this.#writeBody(fitting, endStream);
  }

  #writeBody(data: Buffer, endStream: boolean): void {
    const { isChunked, isBodiless } = this.#framing;
    if (data.length > 0 && !isBodiless) {
      if (isChunked) this.#write(data.length.toString(16) + CRLF);
      this.wireBytesSent += data.length;
      this.wire.writeData(data);
      if (isChunked) this.#write(CRLF);
    }
    if (!endStream) return;
    if (isChunked) this.#write(lastChunk(undefined));
    this.finishResponse();
  }

  encodeTrailers(trailers: HeaderMap): void {
    if (this.#framing.isChunked) {
      this.#letThrough(trailers);
      this.#write(lastChunk(this.limits.enableTrailers ? trailers : undefined));
    }
    this.finishResponse();
  }

  #write(text: string): void {
    this.wireBytesSent += text.length;
    this.wire.writeText(text);
  }

  /** What must not leave stays here. */
  #letThrough(headers: HeaderMap): void {
    if (headers.isSuspect) this.#noteParts(dropUnfit(headers));
  }

  #noteParts(count: number): void {
    if (count > 0) this.owner.onPartsDropped(count);
  }

  #frame(headers: HeaderMap, endStream: boolean): ResponseFraming {
    const framing = frameResponse(headers, endStream, this.#isHead, this.line.isHttp10);
    if (framing.endsWithConnection) this.endWithClose();
    return framing;
  }

  #connectionOption(isUpgrade: boolean): string {
    if (isUpgrade) return 'upgrade';
    if (this.closeAfter || this.#announcesClose) return 'close';
    return this.line.isHttp10 ? 'keep-alive' : '';
  }
}
