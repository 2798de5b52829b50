/**
 * One exchange with a host over HTTP/2: writes the request and hands the answer on. Owns what a
 * message of HTTP/2 may be (RFC 9113 section 8.1) on this side; the connection is its codec's.
 */
import type { Metadata, RequestEncoder, ResetReason, ResponseDecoder } from '../../stream/codec.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { dropUnfit, invalidValue, requestFault } from '../../stream/message-door.ts';
import { BodyLength } from './body-length.ts';
import { ErrorCode } from '../frames.ts';
import type { Http2Stream, StreamUser } from '../http2-stream.ts';
import { type MessageFault, type MessageFields, VIOLATION } from '../message-fields.ts';
import { upgradeOf, writeFields, writeRequest } from './request-fields.ts';
import type { Http2Session } from '../session.ts';

/** Informational responses that one request may bring, so that none runs for ever. */
const MAX_INFORMATIONAL = 32;
const SWITCHING_PROTOCOLS = 101;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** What an exchange needs of its connection. */
export interface ClientConnection {
  readonly session: Http2Session;
  readonly fields: MessageFields;
  /** Requests are this server's own: the operator wrote their targets. */
  readonly isOwnRequest: boolean;
  /** The stream is one of the session's. */
  onStreamOpen(): void;
  /** A stream whose request is sent was paused, or goes on, or was paused when it ended. */
  onStreamPaused(paused: boolean): void;
  /** The stream has left the session; once, before its decoder hears why. */
  onStreamOver(stream: ClientStream): void;
  /** The host's message breaks the rules; the stream ends, or its connection. */
  onBadMessage(stream: ClientStream, fault: MessageFault): void;
}

export class ClientStream implements RequestEncoder, StreamUser {
  readonly #connection: ClientConnection;
  readonly #decoder: ResponseDecoder;
  readonly #requestLength = new BodyLength();
  readonly #answerLength = new BodyLength();
  #stream: Http2Stream | undefined = undefined;
  #isOver = false;
  /** Its connection knows that it is paused. */
  #isPaused = false;
  #sawFinal = false;
  #informational = 0;
  #isHead = false;
  #isConnect = false;
  /** What an HTTP/1 client wants to switch to; it expects 101 for it. */
  #upgrade = '';

  constructor(connection: ClientConnection, decoder: ResponseDecoder) {
    this.#connection = connection;
    this.#decoder = decoder;
  }

  /** What the next header block of the stream is. */
  get awaits(): 'response' | 'trailers' {
    return this.#sawFinal ? 'trailers' : 'response';
  }

  get headerBytesSent(): number {
    return this.#stream?.headerBytesSent ?? 0;
  }

  get wireBytesSent(): number {
    return this.#stream?.wireBytesSent ?? 0;
  }

  get headerBytesReceived(): number {
    return this.#stream?.headerBytesReceived ?? 0;
  }

  get wireBytesReceived(): number {
    return this.#stream?.wireBytesReceived ?? 0;
  }

  encodeHeaders(headers: HeaderMap, endStream: boolean): string | undefined {
    const { session, isOwnRequest } = this.#connection;
    const fault = requestFault(headers, isOwnRequest) ?? this.#noteRequest(headers, endStream);
    if (fault !== undefined) {
      this.#end();
      return fault;
    }
    const stream = session.openStream(this);
    if (stream === undefined) {
      this.#fail('connection_termination');
      return undefined;
    }
    this.#stream = stream;
    this.#connection.onStreamOpen();
    session.writer.headers(stream, headers, writeRequest, endStream);
    return undefined;
  }

  encodeData(data: Buffer, endStream: boolean): void {
    const stream = this.#stream;
    if (stream === undefined || this.#isOver) return;
    if (this.#requestLength.take(data.length, endStream)) {
      this.#connection.session.writer.data(stream, data, endStream);
    } else this.#disagree();
  }

  encodeTrailers(trailers: HeaderMap): void {
    const stream = this.#stream;
    if (stream === undefined || this.#isOver) return;
    if (!this.#requestLength.take(0, true)) {
      this.#disagree();
      return;
    }
    dropUnfit(trailers);
    const { writer } = this.#connection.session;
    if (trailers.count > 0) writer.trailers(stream, trailers, writeFields);
    else writer.data(stream, NOTHING, true);
  }

  encodeMetadata(metadata: Metadata): void {
    if (this.#stream !== undefined) this.#connection.session.metadata?.send(this.#stream, metadata);
  }

  resetStream(): void {
    if (this.#isOver) return;
    this.#resetWith(ErrorCode.internalError);
  }

  pauseResponse(paused: boolean): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#connection.session.pause(stream, paused);
    if (!this.#isOver) this.#tellPause(stream.pauses > 0 && stream.isLocalEnded);
  }

  onHeaders(endStream: boolean): void {
    const { fields } = this.#connection;
    const headers = fields.fault === undefined ? fields.finish() : undefined;
    if (headers === undefined) this.#refuse(fields.fault);
    else if (this.#sawFinal) this.#onTrailers(headers, endStream);
    else if (headers.status < 200) this.#onInformational(headers, endStream);
    else this.#onFinal(headers, endStream);
  }

  onData(data: Buffer, endStream: boolean): void {
    if (!this.#sawFinal) {
      this.#refuse(undefined);
      return;
    }
    if (!this.#answerLength.take(data.length, endStream)) {
      // As in Envoy: a body that is not what the head says ends its stream alone.
      this.refuse(ErrorCode.protocolError, 'protocol_error');
      return;
    }
    this.#decoder.decodeData(data, endStream);
    if (endStream) this.#answered();
  }

  onMetadata(metadata: Metadata): void {
    this.#decoder.decodeMetadata?.(metadata);
  }

  onReset(code: number): void {
    if (code === ErrorCode.refusedStream) this.#fail('remote_refused_stream');
    else this.#fail(code === ErrorCode.protocolError ? 'protocol_error' : 'remote_reset');
  }

  onException(): void {
    this.refuse(ErrorCode.internalError, 'local_reset');
  }

  onWriteBlocked(blocked: boolean): void {
    this.#decoder.onWriteBlocked(blocked);
  }

  onClosed(): void {
    this.#end();
  }

  /** The stream is gone with its connection, or by its fault. */
  fail(reason: ResetReason): void {
    this.#fail(reason);
  }

  /** The host's message is one that cannot be passed on, and the connection stays. */
  refuse(code: ErrorCode, reason: ResetReason): void {
    if (this.#isOver) return;
    this.#resetWith(code);
    this.#decoder.onReset(reason);
  }

  /** Notes what of the request decides how its answer is read; says what is wrong with it. */
  #noteRequest(headers: HeaderMap, endStream: boolean): string | undefined {
    this.#isHead = headers.method === 'HEAD';
    this.#isConnect = headers.method === 'CONNECT';
    this.#upgrade = upgradeOf(headers);
    const length = headers.get('content-length');
    if (length === undefined || this.#isConnect || this.#upgrade !== '') return undefined;
    this.#requestLength.begin(Number(length));
    const agrees = !endStream || this.#requestLength.take(0, true);
    return agrees ? undefined : invalidValue('content-length');
  }

  #onInformational(headers: HeaderMap, endStream: boolean): void {
    const isBad =
      endStream ||
      headers.status === SWITCHING_PROTOCOLS ||
      this.#connection.fields.contentLength >= 0 ||
      ++this.#informational > MAX_INFORMATIONAL;
    if (isBad) this.#refuse(undefined);
    else this.#decoder.decode1xx(headers);
  }

  #onFinal(headers: HeaderMap, endStream: boolean): void {
    this.#sawFinal = true;
    if (!this.#noteAnswer(headers, endStream)) {
      this.#refuse(undefined);
      return;
    }
    if (this.#upgrade !== '' && headers.status === 200) this.#switch(headers);
    this.#decoder.decodeHeaders(headers, endStream);
    if (endStream) this.#answered();
  }

  /** Notes how much body may come; false where the head is at odds with itself. */
  #noteAnswer(headers: HeaderMap, endStream: boolean): boolean {
    const { status } = headers;
    const { contentLength } = this.#connection.fields;
    const isTunnel = (this.#isConnect || this.#upgrade !== '') && status < 300;
    if (isTunnel || status === NO_CONTENT) headers.remove('content-length');
    if (isTunnel) return true;
    if (status === NO_CONTENT && contentLength > 0) return false;
    const hasNoBody = this.#isHead || status === NO_CONTENT || status === NOT_MODIFIED;
    this.#answerLength.begin(hasNoBody ? 0 : contentLength);
    return !endStream || this.#answerLength.take(0, true);
  }

  /** To a client of HTTP/1 the extended CONNECT was an upgrade. */
  #switch(headers: HeaderMap): void {
    headers.status = SWITCHING_PROTOCOLS;
    headers.set('upgrade', this.#upgrade);
    headers.set('connection', 'upgrade');
  }

  #onTrailers(trailers: HeaderMap, endStream: boolean): void {
    if (!endStream || !this.#answerLength.take(0, true)) {
      this.#refuse(undefined);
      return;
    }
    trailers.remove('content-length');
    this.#decoder.decodeTrailers(trailers);
    this.#answered();
  }

  /** The answer is whole. What is left of the request is of no use to anybody. */
  #answered(): void {
    if (this.#isOver || this.#stream?.isLocalEnded === true) return;
    this.#resetWith(ErrorCode.internalError);
  }

  #refuse(fault: MessageFault | undefined): void {
    if (this.#isOver) return;
    this.#connection.onBadMessage(this, fault ?? { kind: 'invalid', details: VIOLATION });
  }

  /** The body is longer or shorter than the head says: the host would find another end of it. */
  #disagree(): void {
    this.#resetWith(ErrorCode.internalError);
    this.#decoder.onReset('local_reset');
  }

  #resetWith(code: ErrorCode): void {
    if (this.#stream !== undefined) this.#connection.session.reset(this.#stream, code);
    this.#end();
  }

  #fail(reason: ResetReason): void {
    if (this.#isOver) return;
    this.#end();
    this.#decoder.onReset(reason);
  }

  #tellPause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.#connection.onStreamPaused(isPaused);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tellPause(false);
    this.#connection.onStreamOver(this);
  }
}

const NOTHING = Buffer.alloc(0);
