/**
 * The writing half of the client side of an HTTP/1 connection: heads, bodies and trailers of
 * requests, and how they are framed.
 */
import type { Wire } from '../net/wire.ts';
import type { ResponseDecoder } from '../stream/codec.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { dropUnfit, invalidValue, requestFault } from '../stream/message-door.ts';
import type { MessageLimits } from './message-limits.ts';
import {
  CHUNKED_LINE,
  CRLF,
  EMPTY_BODY_LINE,
  framingLine,
  headerLines,
  hostLine,
  lastChunk,
  requestLine,
  UPGRADE_LINE,
} from './serialise.ts';

/** Other methods say `content-length: 0` when their request has no body. */
const BODILESS_METHODS = new Set(['GET', 'HEAD', 'DELETE', 'TRACE', 'CONNECT']);

export interface Http1ClientLimits extends MessageLimits {
  /** Requests are this server's own, such as checks of hosts: the operator wrote their targets. */
  readonly isOwnRequest: boolean;
  readonly sendsFullUrl?: true;
}

export abstract class Http1RequestWriter {
  protected readonly wire: Wire;
  protected readonly limits: Http1ClientLimits;
  protected stream: ResponseDecoder | undefined = undefined;
  protected isHeadRequest = false;
  protected isUpgradeRequest = false;
  protected isConnectRequest = false;
  protected requestDone = false;
  #chunkedRequest = false;
  /** Bytes left of the body whose length the head announced; -1 where no length says its end. */
  #requestLeft = -1;
  headerBytesSent = 0;
  wireBytesSent = 0;

  protected constructor(wire: Wire, limits: Http1ClientLimits) {
    this.wire = wire;
    this.limits = limits;
  }

  abstract resetStream(): void;

  /** The answer has made a tunnel of the connection. */
  protected abstract readonly isUpgraded: boolean;

  protected beginRequest(): void {
    this.requestDone = false;
    this.#chunkedRequest = false;
    this.#requestLeft = -1;
    this.headerBytesSent = 0;
    this.wireBytesSent = 0;
  }

  encodeHeaders(headers: HeaderMap, endStream: boolean): string | undefined {
    const fault =
      requestFault(headers, this.limits.isOwnRequest) ?? this.#noteLength(headers, endStream);
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
    this.isHeadRequest = method === 'HEAD';
    this.isConnectRequest = method === 'CONNECT';
    this.isUpgradeRequest = this.isConnectRequest || headers.has('upgrade');
    let framing = '';
    if (this.isUpgradeRequest) {
      this.#requestLeft = -1;
      framing = this.isConnectRequest || headers.has('connection') ? '' : UPGRADE_LINE;
    } else if (this.#requestLeft < 0) {
      if (!endStream) {
        framing = CHUNKED_LINE;
        this.#chunkedRequest = true;
      } else if (!BODILESS_METHODS.has(method)) framing = EMPTY_BODY_LINE;
    }
    const { headerCase } = this.limits;
    const lines =
      hostLine(headers, headerCase) +
      headerLines(headers, headerCase) +
      framingLine(framing, headerCase);
    // As Envoy counts headers: without start line and empty line.
    this.headerBytesSent = lines.length;
    this.#write(requestLine(headers, this.limits.sendsFullUrl === true) + lines + CRLF);
    if (endStream) this.#finishRequest();
  }

  encodeData(data: Buffer, endStream: boolean): void {
    if (this.#requestLeft >= 0 && !this.#fitsLength(data.length, endStream)) return;
    if (data.length > 0) {
      if (this.#chunkedRequest) this.#write(data.length.toString(16) + CRLF);
      this.wireBytesSent += data.length;
      this.wire.writeData(data);
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
    const stream = this.stream;
    this.resetStream();
    stream?.onReset('local_reset');
    return false;
  }

  encodeTrailers(trailers: HeaderMap): void {
    if (this.#requestLeft > 0 && !this.#fitsLength(0, true)) return;
    if (this.#chunkedRequest) {
      dropUnfit(trailers);
      this.#write(lastChunk(this.limits.enableTrailers ? trailers : undefined));
    }
    this.#finishRequest();
  }

  #write(text: string): void {
    this.wireBytesSent += text.length;
    this.wire.writeText(text);
  }

  #finishRequest(): void {
    this.requestDone = true;
    if (this.isConnectRequest && this.isUpgraded) this.wire.endWriting?.();
  }
}
