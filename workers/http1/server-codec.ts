/**
 * The server side of one HTTP/1 connection: reads requests one after the other (response-writer.ts
 * has the other half). Owns framing, keep-alive and pipelining; knows no routes and no filters.
 *
 * One request is open at a time; what a client sends behind it waits. The encoder of the open
 * request is the codec itself, so that a request allocates no more than its header map.
 */
import type {
  MessageFault,
  RequestDecoder,
  ResponseEncoder,
  ServerCodec,
  ServerCodecOwner,
} from '../stream/codec.ts';
import { HeaderMap } from '../stream/header-map.ts';
import type { Protocol } from '../stream/stream-info.ts';
import { LateInput } from '../net/late-input.ts';
import type { Wire } from '../net/wire.ts';
import { ChunkedDecoder, type ChunkedSink } from './chunked-decoder.ts';
import { HeadReader } from './head-reader.ts';
import type { HeaderBlockParser } from './header-block.ts';
import { type ParseError, parseErrors } from './parse-errors.ts';
import { PipelinedInput, type RequestReader } from './pipelined-input.ts';
import {
  connectBodyError,
  earlyLineError,
  methodStarts,
  parseRequestHead,
} from './request-head.ts';
import { Http1ResponseWriter, type Http1ServerLimits } from './response-writer.ts';
import { readTrailers } from './trailers.ts';
import { HTTP1_TRAITS } from './traits.ts';

type ReadState = 'head' | 'fixed_body' | 'chunked_body' | 'request_done' | 'upgraded' | 'closed';

/** Requests of one connection that are read in one turn of the loop. */
const MAX_HEADS_IN_TURN = 32;
const CR = 0x0d;
const LF = 0x0a;

export class Http1ServerCodec
  extends Http1ResponseWriter
  implements ServerCodec, ResponseEncoder, ChunkedSink, RequestReader
{
  readonly traits = HTTP1_TRAITS;
  readonly #head: HeadReader;
  readonly #block: HeaderBlockParser;
  readonly #chunks: ChunkedDecoder;
  readonly #methodStarts: Uint8Array;
  #stream: RequestDecoder | undefined = undefined;
  #readState: ReadState = 'head';
  /** The last byte between two messages was a CR, whose LF may come with the next read. */
  #isAfterCr = false;
  #bodyLeft = 0;
  /** The input of a client that has sent something behind an open request. */
  #pipelined: PipelinedInput | undefined = undefined;
  /** Requests that were answered at once were more than a turn has room for. */
  #late: LateInput | undefined = undefined;
  headerBytesReceived = 0;
  wireBytesReceived = 0;

  constructor(wire: Wire, owner: ServerCodecOwner, limits: Http1ServerLimits) {
    super(wire, owner, limits);
    const request = { line: this.line, options: limits };
    this.#methodStarts = methodStarts(limits);
    this.#head = new HeadReader(limits, (text, headers, block) =>
      parseRequestHead(text, headers, block, request),
    );
    this.#block = this.#head.block;
    this.#chunks = new ChunkedDecoder(this);
  }

  get protocol(): Protocol {
    return this.line.isHttp10 ? 'HTTP/1.0' : 'HTTP/1.1';
  }

  protected get isRequestRead(): boolean {
    return this.#readState === 'request_done';
  }

  get openStreams(): number {
    return this.#stream === undefined ? 0 : 1;
  }

  onData(input: Buffer, start: number, end: number): void {
    const isLate = this.#late?.isWaiting === true;
    const next = isLate ? start : this.#readPortion(input, start, end);
    if (next === undefined) return;
    this.#late ??= new LateInput(this.wire, (...rest) => this.#readPortion(...rest));
    this.#late.add(input, next, end);
  }

  #readPortion(input: Buffer, start: number, end: number): number | undefined {
    let at = start;
    let heads = 0;
    while (at < end) {
      if (this.#readState === 'head') {
        if (heads++ === MAX_HEADS_IN_TURN) return at;
        at = this.#readHead(input, at, end);
      } else if (this.#readState === 'fixed_body') at = this.#readFixed(input, at, end);
      else if (this.#readState === 'chunked_body') at = this.#readChunks(input, at, end);
      else if (this.#readState === 'upgraded') at = this.#readUpgraded(input, at, end);
      else if (this.#readState === 'request_done') {
        this.#keep(input, at, end);
        break;
      } else break;
    }
    return undefined;
  }

  onTransportClosed(): void {
    this.#readState = 'closed';
    const stream = this.#stream;
    this.#stream = undefined;
    this.#pipelined = undefined;
    stream?.onReset('connection_termination');
  }

  onWriteBlocked(blocked: boolean): void {
    this.#stream?.onWriteBlocked(blocked);
  }

  abort(): void {
    this.#stream ??= this.owner.newStream(this);
    this.#refuse(parseErrors.overloaded);
  }

  stop(): void {
    this.#readState = 'closed';
  }

  onBody(piece: Buffer): void {
    this.#stream?.decodeData(piece, false);
  }

  resetStream(): void {
    this.#stream = undefined;
    this.#readState = 'closed';
    this.owner.onCodecFinished(this.responseStarted ? 'delayed' : 'now');
  }

  refuseMessage(fault: MessageFault, endsConnection: boolean): void {
    if (endsConnection) this.closeAfter = true;
    this.#stream?.onCodecError(400, `http1.${fault}`, 'Bad Request');
  }

  get isBetweenRequests(): boolean {
    return this.#readState === 'head';
  }

  #readHead(input: Buffer, start: number, end: number): number {
    if (this.#stream === undefined && this.#head.isEmpty) {
      const byte = input[start];
      const begins = byte !== undefined && this.#methodStarts[byte] === 1;
      if (!begins || this.#isAfterCr) return this.#readBetween(byte, start, end);
      this.#beginStream();
    }
    const headers = this.#head.read(input, start, end);
    if (headers === undefined) {
      this.wireBytesReceived += end - start;
      // A request line that is none is refused without the rest of the head.
      const error =
        this.#head.error ?? this.#head.earlyError((line) => earlyLineError(line, this.limits));
      if (error !== undefined) this.#refuse(error);
      return end;
    }
    this.headerBytesReceived = this.#block.headerBytes;
    this.wireBytesReceived += this.#head.taken;
    const bodyError = headers.method === 'CONNECT' ? connectBodyError(this.#block) : undefined;
    if (bodyError !== undefined) {
      this.#refuse(bodyError);
      return end;
    }
    this.#beginRequest(headers);
    return start + this.#head.taken;
  }

  /**
   * Empty lines between messages do not begin a request; what no method begins with is refused at
   * once, without an end of line to wait for.
   */
  #readBetween(byte: number | undefined, start: number, end: number): number {
    if (byte === LF || (byte === CR && !this.#isAfterCr)) {
      this.#isAfterCr = byte === CR;
      return start + 1;
    }
    this.#isAfterCr = false;
    this.#beginStream();
    this.#refuse(parseErrors.codec);
    return end;
  }

  #beginStream(): void {
    this.headerBytesReceived = 0;
    this.wireBytesReceived = 0;
    this.beginExchange();
    this.#stream = this.owner.newStream(this);
  }

  #beginRequest(headers: HeaderMap): void {
    const block = this.#block;
    this.noteRequest(headers.method, block);
    const hasBody = this.#beginBody(headers);
    if (block.expectContinue && hasBody && !this.line.isHttp10) this.#stream?.onExpectContinue();
    this.#stream?.decodeHeaders(headers, !hasBody);
  }

  /** Decides what follows the head; false when nothing does. */
  #beginBody(headers: HeaderMap): boolean {
    const block = this.#block;
    if (headers.method === 'CONNECT' || headers.has('upgrade')) this.#readState = 'upgraded';
    else if (block.chunked) {
      this.#readState = 'chunked_body';
      this.#chunks.reset(this.limits.maxHeaderBytes);
    } else if (block.contentLength > 0) {
      this.#readState = 'fixed_body';
      this.#bodyLeft = block.contentLength;
    } else this.#readState = 'request_done';
    return this.#readState !== 'request_done';
  }

  #readFixed(input: Buffer, start: number, end: number): number {
    const length = Math.min(this.#bodyLeft, end - start);
    this.#bodyLeft -= length;
    this.wireBytesReceived += length;
    const isLast = this.#bodyLeft === 0;
    if (isLast) this.#readState = 'request_done';
    this.#stream?.decodeData(input.subarray(start, start + length), isLast);
    return start + length;
  }

  #readChunks(input: Buffer, start: number, end: number): number {
    const chunks = this.#chunks;
    const at = chunks.decode(input, start, end);
    this.wireBytesReceived += at - start;
    if (this.#readState !== 'chunked_body') return at;
    if (chunks.error !== undefined) {
      this.#refuse(chunks.error);
      return end;
    }
    if (chunks.isDone) this.#endChunks();
    return at;
  }

  #endChunks(): void {
    const trailers = readTrailers(this.#chunks.trailerText, this.#block, this.limits, true);
    if (trailers !== undefined && !(trailers instanceof HeaderMap)) return this.#refuse(trailers);
    this.#readState = 'request_done';
    if (trailers === undefined) this.#stream?.decodeData(EMPTY, true);
    else this.#stream?.decodeTrailers(trailers);
  }

  #readUpgraded(input: Buffer, start: number, end: number): number {
    this.wireBytesReceived += end - start;
    this.#stream?.decodeData(input.subarray(start, end), false);
    return end;
  }

  /** What follows an exchange that ends the connection is nobody's. */
  #keep(input: Buffer, start: number, end: number): void {
    if (this.closeAfter) return;
    this.#pipelined ??= new PipelinedInput(this.wire, this);
    this.#pipelined.keep(input, start, end);
  }

  #refuse(error: ParseError): void {
    this.closeAfter = true;
    this.#readState = 'closed';
    this.#stream?.onCodecError(error.status, error.details, error.body);
  }

  protected finishResponse(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#stream = undefined;
    if (this.#readState !== 'request_done') {
      this.#readState = 'closed';
      stream.onReset('local_reset');
      this.owner.onCodecFinished('delayed');
      return;
    }
    // The client takes whatever comes next for the rest of this body.
    if (this.responseLeft > 0) this.endWithClose();
    const waiting = this.#pipelined?.take();
    if (this.closeAfter) {
      this.#readState = 'closed';
      // A client that did not ask closes first. Closing on unread requests would make the kernel
      // reset what was just sent.
      this.owner.onCodecFinished(this.isCloseAsked && waiting === undefined ? 'now' : 'delayed');
      return;
    }
    this.#readState = 'head';
    if (waiting !== undefined) this.#pipelined?.resume(waiting);
  }
}

const EMPTY = Buffer.alloc(0);
