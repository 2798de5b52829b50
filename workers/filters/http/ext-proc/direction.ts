/**
 * One message of an exchange, the request or the response, on its way through a processor: what was
 * sent of it, which answers are awaited, and what is kept until they come.
 */
import { BodyMode } from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import type { DataStatus, HeadersStatus, TrailersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { BodyMutation, CommonAnswer } from './messages.ts';
import {
  FLOODED,
  hasWrongLength,
  mutated,
  NOT_DUPLEX,
  NOT_STREAMED,
  SPURIOUS,
  WRONG_LENGTH,
} from './body-mutation.ts';
import {
  changesLength,
  type DirectionMode,
  type DirectionOwner,
  isDuplex,
  isObserved,
  isWhole,
  passesBody,
  sendsEarly,
  type Side,
} from './direction-owner.ts';
import type { MessageBuffer, SentPiece } from './message-buffer.ts';

const NOTHING = Buffer.alloc(0);

export class Direction {
  readonly side: Side;
  readonly #owner: DirectionOwner;
  readonly #buffer: MessageBuffer;
  mode: DirectionMode;
  #headers: HeaderMap | undefined = undefined;
  #trailers: HeaderMap | undefined = undefined;
  #isBare = false;
  #holdsHeaders = false;
  /** The answer to the headers has not come. */
  awaitsHeaders = false;
  #awaitsTrailers = false;
  #hasEnd = false;
  #hasSentEnd = false;
  /** The processor gave a body of its own. */
  #isReplaced = false;
  /** Pieces that only the processor has now. */
  #isAway = false;
  /** It has given the last of them back. */
  #hasBackAll = false;

  constructor(side: Side, mode: DirectionMode, owner: DirectionOwner, buffer: MessageBuffer) {
    this.side = side;
    this.mode = mode;
    this.#owner = owner;
    this.#buffer = buffer;
  }

  get hasBegun(): boolean {
    return this.#headers !== undefined;
  }

  get isWaiting(): boolean {
    if (this.awaitsHeaders) return true;
    return !isDuplex(this.mode) && (this.#awaitsTrailers || this.#buffer.hasSent);
  }

  /** The message cannot go on without the processor. */
  get isLost(): boolean {
    return this.#isAway && !this.#hasBackAll;
  }

  onHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const owner = this.#owner;
    this.#headers = headers;
    this.#isBare = endStream;
    if (owner.isOver) return 'continue';
    if (this.mode.sendsHeaders) {
      owner.sendHeaders(this.side, headers, endStream);
      if (owner.isObserver && !owner.isAnswered) return 'continue';
      if (owner.isOver) return owner.isAnswered ? 'stop' : 'continue';
      this.awaitsHeaders = true;
      this.#holdsHeaders = true;
    }
    if (changesLength(this.mode, owner)) headers.remove('content-length');
    return this.#holdsHeaders ? 'stop' : 'continue';
  }

  onData(data: Buffer, endStream: boolean): DataStatus {
    const owner = this.#owner;
    if (owner.isOver) return this.#afterwards();
    if (owner.isObserver) return this.#observe(data, endStream);
    if (this.#isReplaced) {
      if (endStream) this.#buffer.pass(NOTHING, true);
      return 'taken';
    }
    if (this.#hasBackAll) return 'taken';
    if (passesBody(this.mode) && !this.#holdsHeaders && this.#buffer.isEmpty) return 'continue';
    if (endStream) this.#hasEnd = true;
    this.#buffer.keep(data);
    this.#advance();
    return 'taken';
  }

  onTrailers(trailers: HeaderMap): TrailersStatus {
    const owner = this.#owner;
    if (owner.isOver) return this.#afterwards();
    if (owner.isObserver) {
      if (this.mode.sendsTrailers) owner.sendTrailers(this.side, trailers);
      return owner.isAnswered ? 'stop' : 'continue';
    }
    if (this.#isReplaced) return 'continue';
    if (this.#hasBackAll) return 'taken';
    this.#trailers = trailers;
    this.#advance();
    return 'taken';
  }

  onHeadersAnswer(answer: CommonAnswer): void {
    const headers = this.#headers;
    if (!this.awaitsHeaders || headers === undefined) return this.#owner.onSpurious(SPURIOUS);
    this.awaitsHeaders = false;
    if (!this.#owner.changeHeaders(this.side, headers, answer, answer.replaces)) return;
    if (answer.replaces) this.#replaceBody(headers, answer.body);
    else this.#advance();
  }

  onBodyAnswer(answer: CommonAnswer): void {
    if (isDuplex(this.mode)) return this.#onStreamedAnswer(answer.body);
    const { body } = answer;
    if (this.mode.body === BodyMode.streamed && body?.kind === 'streamed') {
      return this.#owner.onSpurious(NOT_STREAMED);
    }
    const piece = this.awaitsHeaders ? undefined : this.#buffer.answered();
    if (piece === undefined) return this.#owner.onSpurious(SPURIOUS);
    if (isWhole(this.mode) && !this.#changeWhole(answer, piece)) return;
    if (this.mode.body === BodyMode.bufferedPartial) {
      this.mode = { ...this.mode, body: BodyMode.none };
    }
    this.#letHeadersGo();
    this.#buffer.pass(mutated(body, piece.data), piece.isLast);
    this.#advance();
  }

  onTrailersAnswer(answer: CommonAnswer): void {
    const trailers = this.#trailers;
    if (!this.#awaitsTrailers || trailers === undefined) return this.#owner.onSpurious(SPURIOUS);
    this.#awaitsTrailers = false;
    if (!this.#owner.changeTrailers(trailers, answer)) return;
    this.#passTrailers();
  }

  onWritable(): void {
    this.#buffer.setCongested(false);
  }

  /** Everything goes on as it came. */
  letGo(): void {
    this.awaitsHeaders = false;
    this.#awaitsTrailers = false;
    this.#letHeadersGo();
    if (this.#hasBackAll) return this.drop();
    this.#buffer.passAll(this.#hasEnd);
    this.#passTrailers();
  }

  /** The message is answered, or gone. */
  drop(): void {
    this.awaitsHeaders = false;
    this.#awaitsTrailers = false;
    this.#trailers = undefined;
    this.#buffer.drop();
  }

  /** After a response only the answer that was made here still comes. */
  #afterwards(): 'continue' | 'stop' {
    return this.#owner.isAnswered && this.side === 'request' ? 'stop' : 'continue';
  }

  #observe(data: Buffer, endStream: boolean): DataStatus {
    if (isObserved(this.mode, this.#owner)) this.#owner.sendBody(this.side, data, endStream);
    return this.#owner.isAnswered ? 'stop' : 'continue';
  }

  /** Sends and passes whatever can be sent and passed now. */
  #advance(): void {
    if (this.awaitsHeaders && !sendsEarly(this.mode, this.#owner)) return;
    if (this.#isBare || passesBody(this.mode)) {
      this.#letHeadersGo();
      if (!this.#buffer.hasSent) this.#buffer.passAll(this.#hasEnd);
    } else if (isWhole(this.mode)) {
      if (!this.#sendWhole()) return;
    } else {
      if (!this.awaitsHeaders) this.#letHeadersGo();
      this.#sendPiece();
    }
    this.#advanceTrailers();
  }

  /** False while more of the body is waited for. */
  #sendWhole(): boolean {
    const buffer = this.#buffer;
    if (buffer.hasSent) return true;
    const isPartial = this.mode.body === BodyMode.bufferedPartial;
    if (!this.#hasEnd && this.#trailers === undefined && !(isPartial && buffer.isFull)) {
      if (isPartial) return false;
      if (buffer.exceeds) this.#owner.refuseTooLarge(this.side);
      else buffer.grow();
      return false;
    }
    this.#sendPiece();
    if (!buffer.hasSent) this.#letHeadersGo();
    return true;
  }

  /** All that is kept, as one message; nothing where there is nothing to say. */
  #sendPiece(): void {
    const buffer = this.#buffer;
    const isLast = this.#hasEnd && !this.#hasSentEnd;
    if (!buffer.hasKept && !isLast) return;
    this.#hasSentEnd ||= isLast;
    const piece = buffer.send(isLast);
    this.#owner.sendBody(this.side, piece.data, isLast);
    if (!isDuplex(this.mode) || this.#owner.isOver) return;
    // What the processor gives back takes its place.
    this.#isAway = true;
    buffer.answered();
    buffer.setCongested(this.#owner.isCongested);
  }

  #advanceTrailers(): void {
    const trailers = this.#trailers;
    const owner = this.#owner;
    if (trailers === undefined || this.#awaitsTrailers || owner.isOver) return;
    if (this.#buffer.hasSent || (this.awaitsHeaders && !sendsEarly(this.mode, this.#owner))) return;
    if (this.mode.sendsTrailers) {
      this.#awaitsTrailers = true;
      owner.sendTrailers(this.side, trailers);
    } else this.#passTrailers();
  }

  #passTrailers(): void {
    const trailers = this.#trailers;
    this.#trailers = undefined;
    this.#letHeadersGo();
    if (trailers === undefined) return;
    this.#hasBackAll = true;
    this.#buffer.passTrailers(trailers);
  }

  /** The body that the processor gives with its answer to headers takes the place of the message's. */
  #replaceBody(headers: HeaderMap, body: BodyMutation | undefined): void {
    this.mode = { ...this.mode, body: BodyMode.none, sendsTrailers: false };
    if (body === undefined || body.kind === 'streamed') return this.#advance();
    const bytes = body.kind === 'body' ? Buffer.from(body.bytes) : NOTHING;
    headers.remove('content-length');
    this.#isReplaced = true;
    this.#buffer.drop();
    if (this.#isBare) {
      if (bytes.length > 0) this.#buffer.addBody(bytes);
      return this.#letHeadersGo();
    }
    this.#letHeadersGo();
    this.#buffer.pass(bytes, this.#hasEnd);
    this.#passTrailers();
  }

  #onStreamedAnswer(body: BodyMutation | undefined): void {
    if (this.awaitsHeaders || this.#hasBackAll || !this.#isAway) {
      return this.#owner.onSpurious(this.#isAway || this.awaitsHeaders ? SPURIOUS : NOT_DUPLEX);
    }
    if (body?.kind !== 'streamed') return this.#owner.onSpurious(NOT_DUPLEX);
    if (body.endOfStream) {
      this.#hasBackAll = true;
      this.#trailers = undefined;
      this.#awaitsTrailers = false;
    }
    this.#buffer.pass(Buffer.from(body.bytes), body.endOfStream);
    if (this.#buffer.isFlooded) this.#owner.fail(FLOODED);
  }

  /** Changes a body that was sent as one: headers may change with it. False after a failure. */
  #changeWhole(answer: CommonAnswer, { data }: SentPiece): boolean {
    const headers = this.#headers;
    if (headers === undefined) return true;
    const isBuffered = this.mode.body === BodyMode.buffered;
    if (!this.#owner.changeHeaders(this.side, headers, answer, isBuffered)) return false;
    if (!isBuffered || !hasWrongLength(headers, answer.body, data)) return true;
    this.#owner.fail(WRONG_LENGTH);
    return false;
  }

  #letHeadersGo(): void {
    if (!this.#holdsHeaders) return;
    this.#holdsHeaders = false;
    this.#buffer.resume();
  }
}
