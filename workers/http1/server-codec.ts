/**
 * The server side of one HTTP/1 connection: reads requests one after the other, writes responses.
 * Owns framing, keep-alive and pipelining; knows nothing of routes, filters or statistics of
 * requests.
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
import { dropUnfit, mendStatus } from '../stream/message-door.ts';
import type { Protocol } from '../stream/stream-info.ts';
import type { Wire } from '../net/wire.ts';
import { ChunkedDecoder, type ChunkedSink } from './chunked-decoder.ts';
import { HeadReader } from './head-reader.ts';
import { HeaderBlockParser } from './header-block.ts';
import { isHeadTooLarge, type MessageLimits, mostHeadBytes } from './message-limits.ts';
import type { ParseError } from './parse-errors.ts';
import { parseErrors } from './parse-errors.ts';
import { PipelinedInput, type RequestReader } from './pipelined-input.ts';
import {
  earlyLineError,
  FIRST_LETTERS,
  parseRequestHead,
  type RequestHeadOptions,
  type RequestLine,
} from './request-head.ts';
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
import { HTTP1_TRAITS } from './traits.ts';

export interface Http1ServerLimits extends RequestHeadOptions, MessageLimits {}

type ReadState = 'head' | 'fixed_body' | 'chunked_body' | 'request_done' | 'upgraded' | 'closed';

const CR = 0x0d;
const LF = 0x0a;

export class Http1ServerCodec implements ServerCodec, ResponseEncoder, ChunkedSink, RequestReader {
  readonly traits = HTTP1_TRAITS;
  readonly #wire: Wire;
  readonly #owner: ServerCodecOwner;
  readonly #limits: Http1ServerLimits;
  readonly #head: HeadReader;
  readonly #block: HeaderBlockParser;
  readonly #line: RequestLine = { isHttp10: false };
  readonly #chunks: ChunkedDecoder;
  #stream: RequestDecoder | undefined = undefined;
  #readState: ReadState = 'head';
  /** The last byte between two messages was a CR, whose LF may come with the next read. */
  #isAfterCr = false;
  #bodyLeft = 0;
  /** Of a client that has sent something behind an open request. */
  #pipelined: PipelinedInput | undefined = undefined;
  /** Set by the request, the response or a drain: the connection ends after this exchange. */
  #closeAfter = false;
  /** The client waits for the close, or it is this side's to do. */
  #isCloseAsked = false;
  /** Responses say goodbye, but the connection stays open for the client to close. */
  #announcesClose = false;
  /** The request line of a head that drips in was looked at. */
  #isLineChecked = false;
  #isHead = false;
  #isConnect = false;
  #responseStarted = false;
  #framing: ResponseFraming = AS_IT_STANDS;
  /** Of the body that the response announced by its length; -1 where no length says its end. */
  #responseLeft = -1;
  headerBytesReceived = 0;
  wireBytesReceived = 0;
  headerBytesSent = 0;
  wireBytesSent = 0;

  constructor(wire: Wire, owner: ServerCodecOwner, limits: Http1ServerLimits) {
    this.#wire = wire;
    this.#owner = owner;
    this.#limits = limits;
    this.#head = new HeadReader(mostHeadBytes(limits));
    this.#block = new HeaderBlockParser(limits);
    this.#chunks = new ChunkedDecoder(this);
  }

  get protocol(): Protocol {
    return this.#line.isHttp10 ? 'HTTP/1.0' : 'HTTP/1.1';
  }

  get openStreams(): number {
    return this.#stream === undefined ? 0 : 1;
  }

  onData(input: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.#readState === 'head') at = this.#readHead(input, at, end);
      else if (this.#readState === 'fixed_body') at = this.#readFixed(input, at, end);
      else if (this.#readState === 'chunked_body') at = this.#readChunks(input, at, end);
      else if (this.#readState === 'upgraded') at = this.#readUpgraded(input, at, end);
      else if (this.#readState === 'request_done') {
        this.#keep(input, at, end);
        break;
      } else break;
    }
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

  startDrain(isOurs: boolean): void {
    this.#closeAfter = true;
    if (isOurs) this.#isCloseAsked = true;
  }

  announceClose(): void {
    this.#announcesClose = true;
  }

  abort(): void {
    this.#stream ??= this.#owner.newStream(this);
    this.#refuse(parseErrors.overloaded);
  }

  stop(): void {
    this.#readState = 'closed';
  }

  onBody(piece: Buffer): void {
    this.#stream?.decodeData(piece, false);
  }

  encode1xx(headers: HeaderMap): void {
    if (this.#line.isHttp10) return;
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
    if (this.#readState !== 'request_done') this.#closeAfter = true;
    const framing = isUpgrade ? AS_IT_STANDS : this.#frame(headers, endStream);
    this.#framing = framing;
    const length =
      framing === AS_IT_STANDS && !isUpgrade ? headers.get('content-length') : undefined;
    this.#responseLeft = length === undefined ? -1 : Number(length);
    this.#responseStarted = true;
    const { status } = headers;
    const start = this.#line.isHttp10 ? statusLine10(status) : statusLine(status);
    const connection = isTunnel ? '' : this.#connectionOption(isUpgrade);
    // In the map, because access logs show it and count it.
    if (connection !== '') headers.set('connection', connection);
    const { headerCase } = this.#limits;
    const lines = headerLines(headers, headerCase) + framingLine(framing.line, headerCase);
    // As Envoy counts headers: without start line and empty line.
    this.headerBytesSent += lines.length;
    this.#write(start + lines + CRLF);
    if (endStream) this.#finishResponse();
  }

  /**
   * A body that is longer or shorter than its head says would end elsewhere for the client than
   * here: no more of it is sent than was announced, and the connection ends.
   */
  encodeData(data: Buffer, endStream: boolean): void {
    if (this.#responseLeft < 0 || data.length <= this.#responseLeft) {
      this.#responseLeft -= data.length;
      this.#writeBody(data, endStream);
      return;
    }
    this.#closeAfter = true;
    this.#noteParts(1);
    const fitting = data.subarray(0, this.#responseLeft);
    this.#responseLeft = 0;
    this.#writeBody(fitting, endStream);
  }

  #writeBody(data: Buffer, endStream: boolean): void {
    const { isChunked, isBodiless } = this.#framing;
    if (data.length > 0 && !isBodiless) {
      if (isChunked) this.#write(data.length.toString(16) + CRLF);
      this.wireBytesSent += data.length;
      this.#wire.writeData(data);
      if (isChunked) this.#write(CRLF);
    }
    if (!endStream) return;
    if (isChunked) this.#write(lastChunk(undefined));
    this.#finishResponse();
  }

  encodeTrailers(trailers: HeaderMap): void {
    if (this.#framing.isChunked) {
      this.#letThrough(trailers);
      this.#write(lastChunk(this.#limits.enableTrailers ? trailers : undefined));
    }
    this.#finishResponse();
  }

  resetStream(): void {
    this.#stream = undefined;
    this.#readState = 'closed';
    this.#owner.onCodecFinished(this.#responseStarted ? 'delayed' : 'now');
  }

  refuseMessage(fault: MessageFault, endsConnection: boolean): void {
    if (endsConnection) this.#closeAfter = true;
    this.#stream?.onCodecError(400, `http1.${fault}`, 'Bad Request');
  }

  pauseRequest(paused: boolean): void {
    this.#wire.pauseReading(paused);
  }

  get isBetweenRequests(): boolean {
    return this.#readState === 'head';
  }

  #write(text: string): void {
    this.wireBytesSent += text.length;
    this.#wire.writeText(text);
  }

  /** What must not leave stays here. */
  #letThrough(headers: HeaderMap): void {
    if (headers.isSuspect) this.#noteParts(dropUnfit(headers));
  }

  #noteParts(count: number): void {
    if (count > 0) this.#owner.onPartsDropped(count);
  }

  #frame(headers: HeaderMap, endStream: boolean): ResponseFraming {
    const framing = frameResponse(headers, endStream, this.#isHead, this.#line.isHttp10);
    if (framing.endsWithConnection) {
      this.#closeAfter = true;
      this.#isCloseAsked = true;
    }
    return framing;
  }

  #connectionOption(isUpgrade: boolean): string {
    if (isUpgrade) return 'upgrade';
    if (this.#closeAfter || this.#announcesClose) return 'close';
    return this.#line.isHttp10 ? 'keep-alive' : '';
  }

  #readHead(input: Buffer, start: number, end: number): number {
    const stored = this.#head.stored;
    if (stored === 0 && this.#stream === undefined) {
      const byte = input[start];
      const begins = byte !== undefined && FIRST_LETTERS[byte] === 1;
      if (!begins || this.#isAfterCr) return this.#readBetween(byte, start, end);
      this.#beginStream();
    }
    const text = this.#head.read(input, start, end);
    if (text === undefined) {
      this.wireBytesReceived += end - start;
      if (this.#head.isTooLarge) this.#refuse(parseErrors.headersTooLarge);
      else this.#checkFirstLine();
      return end;
    }
    const headers = new HeaderMap();
    if (this.#limits.headerCase === 'preserve') headers.originalNames = [];
    const error =
      parseRequestHead(text, headers, this.#block, { line: this.#line, options: this.#limits }) ??
      this.#checkSize(headers);
    this.#head.clear();
    if (error !== undefined) {
      this.wireBytesReceived += end - start;
      this.#refuse(error);
      return end;
    }
    const consumed = this.#block.end - stored;
    this.headerBytesReceived = this.#block.headerBytes;
    this.wireBytesReceived += consumed;
    const bodyError = headers.method === 'CONNECT' ? this.#connectBodyError() : undefined;
    if (bodyError !== undefined) {
      this.#refuse(bodyError);
      return end;
    }
    this.#beginRequest(headers);
    return start + consumed;
  }

  /** A request line that is none is refused without the rest of the head. */
  #checkFirstLine(): void {
    if (this.#isLineChecked) return;
    const line = this.#head.firstLine;
    if (line === undefined) return;
    this.#isLineChecked = true;
    const error = earlyLineError(line, this.#limits);
    if (error !== undefined) this.#refuse(error);
  }

  /** What follows a CONNECT has no framing. */
  #connectBodyError(): ParseError | undefined {
    if (this.#block.chunked) return parseErrors.transferEncoding;
    return this.#block.contentLength > 0 ? parseErrors.bodyDisallowed : undefined;
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
    this.headerBytesSent = 0;
    this.wireBytesSent = 0;
    this.#responseStarted = false;
    this.#isHead = false;
    this.#isConnect = false;
    this.#line.isHttp10 = false;
    this.#isLineChecked = false;
    this.#stream = this.#owner.newStream(this);
  }

  #checkSize(headers: HeaderMap): ParseError | undefined {
    return isHeadTooLarge(this.#block.end, headers.count, this.#limits)
      ? parseErrors.headersTooLarge
      : undefined;
  }

  #beginRequest(headers: HeaderMap): void {
    const block = this.#block;
    this.#isHead = headers.method === 'HEAD';
    this.#isConnect = headers.method === 'CONNECT';
    if (this.#line.isHttp10 ? !block.sawKeepAlive || block.sawClose : block.sawClose) {
      this.#closeAfter = true;
      this.#isCloseAsked = true;
    }
    const hasBody = this.#beginBody(headers);
    if (block.expectContinue && hasBody && !this.#line.isHttp10) this.#stream?.onExpectContinue();
    this.#stream?.decodeHeaders(headers, !hasBody);
  }

  /** Decides what follows the head; false when nothing does. */
  #beginBody(headers: HeaderMap): boolean {
    const block = this.#block;
    if (headers.method === 'CONNECT' || headers.has('upgrade')) this.#readState = 'upgraded';
    else if (block.chunked) {
      this.#readState = 'chunked_body';
      this.#chunks.reset(this.#limits.maxHeaderBytes);
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
    const { trailerText } = this.#chunks;
    if (trailerText === CRLF) {
      this.#readState = 'request_done';
      this.#stream?.decodeData(EMPTY, true);
      return;
    }
    const trailers = new HeaderMap();
    const error = this.#block.parse(trailerText, 0, trailers, true);
    if (error !== undefined || this.#block.hostCount > 0 || this.#block.chunked) {
      this.#refuse(error ?? parseErrors.codec);
      return;
    }
    this.#readState = 'request_done';
    trailers.remove('content-length');
    if (this.#limits.enableTrailers && trailers.count > 0) this.#stream?.decodeTrailers(trailers);
    else this.#stream?.decodeData(EMPTY, true);
  }

  #readUpgraded(input: Buffer, start: number, end: number): number {
    this.wireBytesReceived += end - start;
    this.#stream?.decodeData(input.subarray(start, end), false);
    return end;
  }

  /** What follows an exchange that ends the connection is nobody's. */
  #keep(input: Buffer, start: number, end: number): void {
    if (this.#closeAfter) return;
    this.#pipelined ??= new PipelinedInput(this.#wire, this);
    this.#pipelined.keep(input, start, end);
  }

  #refuse(error: ParseError): void {
    this.#closeAfter = true;
    this.#readState = 'closed';
    this.#stream?.onCodecError(error.status, error.details, error.body);
  }

  #finishResponse(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#stream = undefined;
    if (this.#readState !== 'request_done') {
      this.#readState = 'closed';
      stream.onReset('local_reset');
      this.#owner.onCodecFinished('delayed');
      return;
    }
    if (this.#responseLeft > 0) {
      // The client takes whatever comes next for the rest of this body.
      this.#closeAfter = true;
      this.#isCloseAsked = true;
    }
    const waiting = this.#pipelined?.take();
    if (this.#closeAfter) {
      this.#readState = 'closed';
      // A client that did not ask closes first. Closing on unread requests would make the kernel
      // reset what was just sent.
      this.#owner.onCodecFinished(this.#isCloseAsked && waiting === undefined ? 'now' : 'delayed');
      return;
    }
    this.#readState = 'head';
    if (waiting !== undefined) this.#pipelined?.resume(waiting);
  }
}

const EMPTY = Buffer.alloc(0);
