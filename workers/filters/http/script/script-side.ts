/**
 * One direction of a stream as its module sees it. A function may take its time: what comes meanwhile
 * is kept, up to the limit of the stream, and the peer is told to wait.
 */
import type {
  DataStatus,
  FilterCallbacks,
  HeadersStatus,
  LocalReply,
  TrailersStatus,
} from '../../../stream/filter.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import type { Headers, Reply, Stream } from '../../../../shared/scripts/filter.ts';
import { addFields, ScriptHeaders } from './script-headers.ts';
import type { Half } from './script-half.ts';
import type { Way } from './script-ways.ts';
import { isPromise, type ScriptInstance } from './script-instance.ts';

/**
 * `passing`: nothing is awaited. `busy`: a function has not settled. `collecting`: the body is kept
 * until it is whole. `open`: the module is left out from here on. `over`: answered, or at its end.
 */
type Mode = 'passing' | 'busy' | 'collecting' | 'open' | 'over';

export interface SideParts {
  readonly callbacks: FilterCallbacks;
  readonly stream: Stream;
  readonly map: HeaderMap;
}

interface Piece {
  readonly data: Buffer;
  readonly isEnd: boolean;
}

const NOTHING = Buffer.alloc(0);

export class ScriptSide implements TimerOwner {
  readonly #instance: ScriptInstance;
  readonly #half: Half;
  readonly #way: Way;
  readonly #callbacks: FilterCallbacks;
  readonly #stream: Stream;
  readonly #map: HeaderMap;
  /** The module is not asked about the rest of the stream. */
  hasFailed = false;
  #mode: Mode = 'passing';
  #haveHeadersGone = false;
  #pieces: Piece[] = [];
  #bytes = 0;
  #trailers: HeaderMap | undefined = undefined;
  #isPaused = false;
  #timer: LoopTimer | undefined = undefined;
  /** Of the function that is awaited. */
  #turn = 0;
  #without: () => void = () => undefined;

  constructor(instance: ScriptInstance, way: Way, { callbacks, stream, map }: SideParts) {
    this.#instance = instance;
    this.#way = way;
    this.#half = way.isRequest ? instance.request : instance.response;
    this.#callbacks = callbacks;
    this.#stream = stream;
    this.#map = map;
  }

  /** `endStream`: nothing follows the headers. */
  start(headers: Headers, endStream: boolean): HeadersStatus {
    const { onHeaders, onBody } = this.#half;
    const wantsBody = !endStream && onBody !== undefined;
    const result = onHeaders === undefined ? undefined : this.#callHeaders(onHeaders, headers);
    if (result === FAILED) return this.#startWithout();
    if (isPromise(result)) {
      this.#await(result, (value) => this.#afterHeaders(value, wantsBody));
      return 'stop';
    }
    if (isReply(result)) {
      this.#answer(result);
      return 'stop';
    }
    if (wantsBody) {
      this.#mode = 'collecting';
      return 'stop';
    }
    this.#haveHeadersGone = true;
    return 'continue';
  }

  onData(data: Buffer, isEnd: boolean): DataStatus {
    const { onChunk } = this.#half;
    if (this.#mode === 'over') return 'stop';
    if (this.#mode === 'passing' || this.#mode === 'open') {
      if (onChunk === undefined || this.#mode === 'open') return 'continue';
      this.#chunk(onChunk, Buffer.from(data), isEnd);
      return 'taken';
    }
    this.#keep(data, isEnd);
    if (this.#mode === 'collecting' && isEnd) this.#collected();
    return 'taken';
  }

  onTrailers(trailers: HeaderMap): TrailersStatus {
    const { onTrailers } = this.#half;
    if (this.#mode === 'over') return 'stop';
    if (this.#mode === 'open') return 'continue';
    if (this.#mode === 'passing') {
      if (onTrailers === undefined) return 'continue';
      this.#trailersOf(onTrailers, trailers);
      return 'taken';
    }
    this.#trailers = trailers;
    if (this.#mode === 'collecting') this.#collected();
    return 'taken';
  }

  onTimer(): void {
    if (this.#mode !== 'busy') return;
    this.#instance.count('timeouts');
    this.#fail(new Error('a function of the module did not settle in time'));
  }

  onException(): void {
    this.#callbacks.onException();
  }

  /** The stream is over, or answered by somebody else. */
  destroy(): void {
    this.#timer?.disarm();
    this.#mode = 'over';
    this.#drop();
  }

  #callHeaders(onHeaders: NonNullable<Half['onHeaders']>, headers: Headers): unknown {
    const instance = this.#instance;
    instance.enter();
    try {
      return onHeaders(headers, this.#stream);
    } catch (error) {
      instance.noteFault(error);
      return FAILED;
    } finally {
      instance.leave();
    }
  }

  /** Runs the module's own code. */
  #call(act: () => unknown): unknown {
    const instance = this.#instance;
    instance.enter();
    try {
      return act();
    } catch (error) {
      instance.noteFault(error);
      return FAILED;
    } finally {
      instance.leave();
    }
  }

  /** The module failed within the event of the headers. */
  #startWithout(): HeadersStatus {
    if (this.#failsOpen()) {
      this.#mode = 'open';
      this.#haveHeadersGone = true;
      return 'continue';
    }
    this.#refuse();
    return 'stop';
  }

  #afterHeaders(value: unknown, wantsBody: boolean): void {
    if (isReply(value)) return this.#answer(value);
    if (wantsBody) {
      this.#mode = 'collecting';
      if (this.#isWhole) this.#collected();
      return;
    }
    this.#letHeadersGo();
    this.#pump();
  }

  get #isWhole(): boolean {
    return this.#trailers !== undefined || this.#pieces.at(-1)?.isEnd === true;
  }

  /** The whole body is here, and the headers have not gone. */
  #collected(): void {
    const { onBody } = this.#half;
    const isEnd = this.#trailers === undefined;
    const body = Buffer.concat(this.#pieces.map(({ data }) => data));
    this.#drop();
    const after = (value: unknown): void => {
      if (isReply(value)) return this.#answer(value);
      const replaced = bytesOf(value);
      if (replaced !== undefined && this.#map.has('content-length')) {
        this.#map.set('content-length', String(replaced.length));
      }
      this.#letHeadersGo();
      if (replaced !== undefined || body.length > 0 || isEnd) {
        this.#way.inject(this.#callbacks, replaced ?? body, isEnd);
      }
      this.#pump();
    };
    this.#settle(
      this.#call(() => onBody?.(body, this.#stream)),
      after,
      () => after(undefined),
    );
  }

  #chunk(onChunk: NonNullable<Half['onChunk']>, data: Buffer, isEnd: boolean): void {
    const after = (value: unknown): void => {
      this.#way.inject(this.#callbacks, bytesOf(value) ?? data, isEnd);
      if (this.#mode !== 'over') this.#pump();
    };
    this.#settle(
      this.#call(() => onChunk(data, this.#stream, isEnd)),
      after,
      () => after(undefined),
    );
  }

  #trailersOf(onTrailers: NonNullable<Half['onTrailers']>, trailers: HeaderMap): void {
    const after = (): void => this.#way.injectTrailers(this.#callbacks, trailers);
    this.#settle(
      this.#call(() => onTrailers(new ScriptHeaders(trailers), this.#stream)),
      after,
      after,
    );
  }

  /** `without`: the message goes on although the module failed. */
  #settle(result: unknown, after: (value: unknown) => void, without: () => void): void {
    if (isPromise(result)) return this.#await(result, after, without);
    if (result === FAILED) return this.#goOnWithout(without);
    this.#accept(() => after(result));
  }

  #await(
    promise: PromiseLike<unknown>,
    after: (value: unknown) => void,
    without: () => void = () => this.#pump(),
  ): void {
    this.#mode = 'busy';
    this.#without = without;
    const { loop } = this.#instance.context;
    this.#timer ??= new LoopTimer(this, 0);
    loop.timers.list(this.#instance.parts.settings.options.callbackTimeoutMs).arm(this.#timer);
    const turn = ++this.#turn;
    const settled = (act: () => void): void => {
      if (this.#mode !== 'busy' || turn !== this.#turn) return;
      loop.run(this, () => {
        this.#timer?.disarm();
        this.#mode = 'passing';
        act();
      });
    };
    this.#instance.parts.marks.awaits(this.#instance.moduleId);
    promise.then(
      (value) => settled(() => this.#accept(() => after(value))),
      (error: unknown) => settled(() => this.#fail(error)),
    );
  }

  /** What a function gave may not be what it may give. */
  #accept(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#instance.noteFault(error);
    this.#timer?.disarm();
    this.#goOnWithout(this.#without);
  }

  #goOnWithout(act: () => void): void {
    if (!this.#failsOpen()) return this.#refuse();
    this.#mode = 'open';
    if (!this.#haveHeadersGone) this.#letHeadersGo();
    act();
    if (this.#pieces.length > 0 || this.#trailers !== undefined) this.#pump();
  }

  #failsOpen(): boolean {
    this.hasFailed = true;
    const { failsOpen } = this.#instance.parts.settings.options;
    this.#instance.count(failsOpen ? 'failed_open' : 'failed_closed');
    return failsOpen;
  }

  #refuse(): void {
    const { isRequest } = this.#way;
    const hadHeaders = this.#haveHeadersGone;
    this.destroy();
    if (!isRequest && hadHeaders) this.#callbacks.resetStream();
    else this.#way.reply(this.#callbacks, FAULT_REPLY);
  }

  #answer(reply: Reply): void {
    let local: LocalReply;
    try {
      local = localReply(reply);
    } catch (error) {
      this.#without = () => this.#pump();
      return this.#fail(error);
    }
    this.#instance.count('replies');
    this.destroy();
    this.#way.reply(this.#callbacks, local);
  }

  #letHeadersGo(): void {
    if (this.#haveHeadersGone) return;
    this.#haveHeadersGone = true;
    this.#way.continueHeaders(this.#callbacks);
  }

  /** Gives the module what has come meanwhile, until it takes its time again. */
  #pump(): void {
    const { onChunk, onTrailers } = this.#half;
    while (this.#mode === 'passing' || this.#mode === 'open') {
      const piece = this.#pieces.shift();
      if (piece === undefined) break;
      this.#release(piece.data.length);
      if (this.#mode === 'passing' && onChunk !== undefined) {
        return this.#chunk(onChunk, piece.data, piece.isEnd);
      }
      this.#way.inject(this.#callbacks, piece.data, piece.isEnd);
    }
    const trailers = this.#trailers;
    if (trailers === undefined || (this.#mode !== 'passing' && this.#mode !== 'open')) return;
    this.#trailers = undefined;
    if (this.#mode === 'passing' && onTrailers !== undefined) {
      this.#trailersOf(onTrailers, trailers);
    } else this.#way.injectTrailers(this.#callbacks, trailers);
  }

  #keep(data: Buffer, isEnd: boolean): void {
    const { context } = this.#instance;
    this.#pieces.push({ data: Buffer.from(data), isEnd });
    this.#bytes += data.length;
    context.loop.held.add(data.length);
    if (this.#bytes <= context.bufferLimitBytes) return;
    if (this.#mode === 'collecting') {
      this.destroy();
      this.#way.refuseTooLarge(this.#callbacks, context);
    } else if (!this.#isPaused) {
      this.#isPaused = true;
      this.#way.pause(this.#callbacks, true);
    }
  }

  #release(bytes: number): void {
    this.#bytes -= bytes;
    this.#instance.context.loop.held.add(-bytes);
    if (!this.#isPaused || this.#bytes > this.#instance.context.bufferLimitBytes) return;
    this.#isPaused = false;
    this.#way.pause(this.#callbacks, false);
  }

  #drop(): void {
    this.#pieces = [];
    this.#release(this.#bytes);
  }
}

const FAILED = Symbol('failed');

const FAULT_REPLY: LocalReply = {
  status: 500,
  body: 'Internal Server Error',
  details: 'script_error',
};

function isReply(value: unknown): value is Reply {
  return typeof value === 'object' && value !== null && 'status' in value;
}

function bytesOf(value: unknown): Buffer | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return Buffer.from(value);
  if (value instanceof Uint8Array) return Buffer.from(value);
  throw new TypeError('a body is a string or bytes');
}

function localReply({ status, headers, body }: Reply): LocalReply {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new RangeError(`${String(status)} is no status of a response`);
  }
  const bytes = bytesOf(body) ?? NOTHING;
  // What cannot be a header is the module's error, here and not on the answer's way.
  addFields(new HeaderMap(), headers);
  return {
    status,
    body: bytes,
    details: 'script_response',
    modifyHeaders: (answer) => addFields(answer, headers),
  };
}
