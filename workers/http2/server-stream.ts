/**
 * One request and its response on an HTTP/2 connection of a client. Owns what the two may say of
 * each other: the length that a head announces, resets with their reasons, the end of both halves.
 */
import { LoopTimer, type TimerOwner } from '../loop/timers.ts';
import type { MessageFault, Metadata, RequestDecoder, ResponseEncoder } from '../stream/codec.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { dropUnfit, mendStatus } from '../stream/message-door.ts';
import { BodyLength } from './client/body-length.ts';
import { ErrorCode } from './frames.ts';
import type { Http2Stream, StreamUser } from './http2-stream.ts';
import {
  type MessageFault as FieldsFault,
  INVALID_FIELD,
  resetDetails,
  SIZE_STATS,
  VIOLATION,
} from './message-fields.ts';
import { type RequestShape, shapeRequest } from './request-shape.ts';
import type { ServerStreamOwner } from './server-stream-owner.ts';
import { writeFields, writeResponse } from './write-response.ts';

const SWITCHING_PROTOCOLS = 101;

export class Http2ServerStream implements StreamUser, ResponseEncoder, TimerOwner {
  readonly #owner: ServerStreamOwner;
  readonly stream: Http2Stream;
  readonly openedMs: number;
  /** The manager's stream, until one of the two has ended the exchange. */
  decoder: RequestDecoder | undefined = undefined;
  #hasRequest = false;
  #isHead = false;
  #isUpgrade = false;
  readonly #requestLength = new BodyLength();
  readonly #responseLength = new BodyLength();
  #isBodiless = false;
  /** The final answer has begun. */
  isAnswered = false;
  #isOver = false;
  /** Armed while an answer that is complete here waits for the client to read. */
  #flushTimer: LoopTimer | undefined = undefined;

  constructor(owner: ServerStreamOwner, id: number, wireBytes: number, nowMs: number) {
    this.#owner = owner;
    this.openedMs = nowMs;
    this.stream = owner.session.accept(id, this, wireBytes);
  }

  get headerBytesReceived(): number {
    return this.stream.headerBytesReceived;
  }

  get wireBytesReceived(): number {
    return this.stream.wireBytesReceived;
  }

  get headerBytesSent(): number {
    return this.stream.headerBytesSent;
  }

  get wireBytesSent(): number {
    return this.stream.wireBytesSent;
  }

  begin(decoder: RequestDecoder): void {
    this.decoder = decoder;
  }

  onHeaders(endStream: boolean): void {
    const { fields } = this.#owner;
    if (this.#hasRequest) this.#owner.stats.count('trailers');
    const headers = fields.fault === undefined ? fields.finish() : undefined;
    if (headers === undefined) {
      this.#refuse(fields.fault?.kind ?? 'invalid', fields.fault?.details ?? INVALID_FIELD);
    } else if (this.#hasRequest) this.#onTrailers(headers, endStream);
    else this.#onRequest(headers, fields.contentLength, endStream);
  }

  #onRequest(headers: HeaderMap, contentLength: number, endStream: boolean): void {
    this.#hasRequest = true;
    const shape = shapeRequest(headers);
    if (shape === undefined) return this.#refuse('invalid', INVALID_FIELD);
    if (!shape.isConnect && !shape.isUpgrade) this.#requestLength.begin(contentLength);
    if (endStream && !this.#requestLength.take(0, true)) return this.#refuse('invalid', VIOLATION);
    this.#isHead = headers.method === 'HEAD';
    this.#isUpgrade = shape.isUpgrade;
    this.#deliver(headers, shape, endStream);
  }

  #deliver(headers: HeaderMap, shape: RequestShape, endStream: boolean): void {
    if (shape.expectsContinue) this.decoder?.onExpectContinue();
    this.decoder?.decodeHeaders(headers, endStream);
  }

  #onTrailers(trailers: HeaderMap, endStream: boolean): void {
    const isWhole = endStream && this.#requestLength.take(0, true);
    if (!isWhole) return this.#refuse('invalid', VIOLATION);
    if (trailers.count > 0) this.decoder?.decodeTrailers(trailers);
    else this.decoder?.decodeData(EMPTY, true);
  }

  onData(data: Buffer, endStream: boolean): void {
    const isRight = this.#requestLength.take(data.length, endStream);
    if (isRight) this.decoder?.decodeData(data, endStream);
    else this.#refuse('invalid', VIOLATION);
  }

  onMetadata(metadata: Metadata): void {
    this.decoder?.decodeMetadata?.(metadata);
  }

  onReset(code: number, isRemote: boolean): void {
    const decoder = this.decoder;
    this.#end(isRemote && !this.isAnswered);
    if (!isRemote) decoder?.onReset('protocol_error', VIOLATION);
    else decoder?.onReset('remote_reset', resetDetails(code, this.stream.isRemoteEnded));
    this.#owner.onStreamOver();
  }

  /** The connection ends, and with it the exchange. */
  onConnectionEnd(reason: 'connection_termination' | 'protocol_error', details?: string): void {
    const decoder = this.decoder;
    this.#end(false);
    decoder?.onReset(reason, details);
  }

  onWriteBlocked(blocked: boolean): void {
    this.decoder?.onWriteBlocked(blocked);
  }

  onLocalEnd(): void {
    // Nobody waits for the rest of the request.
    const decoder = this.decoder;
    this.#reset(ErrorCode.noError);
    decoder?.onReset('local_reset');
    this.#owner.onStreamOver();
  }

  onClosed(): void {
    this.#end(false);
    this.#owner.onStreamOver();
  }

  encode1xx(headers: HeaderMap): void {
    // A protocol is switched by an answer of 200 here.
    if (this.stream.isClosed || headers.status === SWITCHING_PROTOCOLS) return;
    this.#letThrough(headers);
    this.#owner.session.writer.headers(this.stream, headers, writeResponse, false);
  }

  encodeHeaders(headers: HeaderMap, endStream: boolean): void {
    if (this.stream.isClosed) return;
    this.isAnswered = true;
    this.#letThrough(headers);
    this.#noteParts(mendStatus(headers));
    if (headers.status === SWITCHING_PROTOCOLS) {
      if (!this.#isUpgrade) this.#noteParts(1);
      headers.status = this.#isUpgrade ? 200 : 502;
    }
    this.#noteBody(headers, endStream);
    if (endStream) this.#noteEnd();
    this.#owner.session.writer.headers(this.stream, headers, writeResponse, endStream);
    if (endStream) this.#afterEnd();
  }

  /** How much body may follow this head. */
  #noteBody(headers: HeaderMap, endStream: boolean): void {
    const { status } = headers;
    if (status === 204) headers.remove('content-length');
    this.#isBodiless = this.#isHead || status === 204 || status === 304;
    if (endStream || this.#isBodiless) return;
    const length = headers.get('content-length');
    if (length !== undefined) this.#responseLength.begin(Number(length));
  }

  encodeData(data: Buffer, endStream: boolean): void {
    if (this.stream.isClosed) return;
    const sent = this.#isBodiless ? EMPTY : data;
    if (!this.#responseLength.take(sent.length, endStream)) return this.#breakOff();
    if (endStream) this.#noteEnd();
    this.#owner.session.writer.data(this.stream, sent, endStream);
    if (endStream) this.#afterEnd();
  }

  encodeTrailers(trailers: HeaderMap): void {
    if (this.stream.isClosed) return;
    if (!this.#responseLength.take(0, true)) return this.#breakOff();
    this.#letThrough(trailers);
    this.#noteEnd();
    const { writer } = this.#owner.session;
    if (trailers.count === 0) writer.data(this.stream, EMPTY, true);
    else writer.trailers(this.stream, trailers, writeFields);
    this.#afterEnd();
  }

  encodeMetadata(metadata: Metadata): void {
    this.#owner.session.metadata?.send(this.stream, metadata);
  }

  resetStream(): void {
    this.#reset(ErrorCode.internalError);
    this.#owner.onStreamOver();
  }

  refuseMessage(fault: MessageFault): void {
    const decoder = this.decoder;
    this.#reset(ErrorCode.internalError);
    decoder?.onReset('protocol_error', `http2.${fault}`);
    this.#owner.onStreamOver();
  }

  pauseRequest(paused: boolean): void {
    this.#owner.session.pause(this.stream, paused);
  }

  /** The client has not read the end of an answer in time. */
  onTimer(): void {
    this.#owner.stats.count('tx_flush_timeout');
    this.resetStream();
  }

  onException(): void {
    this.decoder?.onException?.();
    if (!this.stream.isClosed) this.resetStream();
  }

  /** A message that breaks the rules; nothing of it is passed on from here. */
  #refuse(kind: FieldsFault['kind'], details: string): void {
    const decoder = this.decoder;
    if (this.stream.isClosed) return;
    if (kind !== 'invalid') {
      this.#owner.stats.count(SIZE_STATS[kind]);
      this.#reset(ErrorCode.internalError);
    } else {
      this.#owner.stats.count('rx_messaging_error');
      if (!this.#owner.endsStreamOnInvalidMessage) {
        this.#end(false);
        decoder?.onReset('protocol_error', details);
        this.#owner.session.refuseFrame();
        return;
      }
      this.#reset(ErrorCode.protocolError);
    }
    decoder?.onReset('protocol_error', details);
    this.#owner.onStreamOver();
  }

  /** The body is not what its head says: the client sees that the message is not whole. */
  #breakOff(): void {
    const decoder = this.decoder;
    this.#noteParts(1);
    this.#reset(ErrorCode.internalError);
    decoder?.onReset('local_reset');
    this.#owner.onStreamOver();
  }

  /** The answer's end is about to be written. */
  #noteEnd(): void {
    if (this.stream.isRemoteEnded) this.decoder = undefined;
  }

  /** The answer is whole; a client that still sends is told that nobody waits for it. */
  #afterEnd(): void {
    const decoder = this.decoder;
    this.decoder = undefined;
    decoder?.onReset('local_reset');
    if (!this.stream.isClosed) this.#armFlush();
  }

  #armFlush(): void {
    const { flushTimeout } = this.#owner;
    if (flushTimeout === undefined) return;
    this.#flushTimer = new LoopTimer(this, 0);
    flushTimeout.arm(this.#flushTimer);
  }

  #reset(code: number): void {
    this.#end(false);
    this.#owner.session.reset(this.stream, code);
  }

  /** The stream is over; counted once. */
  #end(isPremature: boolean): void {
    this.decoder = undefined;
    this.#flushTimer?.disarm();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#owner.noteStreamEnd(this, isPremature);
  }

  #letThrough(headers: HeaderMap): void {
    if (headers.isSuspect) this.#noteParts(dropUnfit(headers));
  }

  #noteParts(count: number): void {
    if (count > 0) this.#owner.onPartsDropped(count);
  }
}

const EMPTY = Buffer.alloc(0);
