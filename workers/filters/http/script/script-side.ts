/**
 * One direction of a stream as its module sees it. A function may take its time: what comes meanwhile
 * is kept, up to the limit of the stream, and the peer is told to wait.
 */
import type { DataStatus, HeadersStatus, TrailersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { Headers, Reply, Stream } from '../../../../shared/scripts/filter.ts';
import { KeptMessage } from './kept-message.ts';
import { ScriptHeaders } from './script-headers.ts';
import { bytesOf, FAILED, FAULT_REPLY, isReply, localReply } from './script-results.ts';
import type { Half } from './script-half.ts';
import { ScriptWait } from './script-wait.ts';
import type { Mode, SideParts, Way } from './script-ways.ts';
import { isPromise, type ScriptInstance } from './script-instance.ts';

export class ScriptSide {
  readonly #instance: ScriptInstance;
  readonly #half: Half;
  readonly #way: Way;
  readonly #callbacks: SideParts['callbacks'];
  readonly #stream: Stream;
  readonly #map: HeaderMap;
  /** The module is not asked about the rest of the stream. */
  hasFailed = false;
  #mode: Mode = 'passing';
  #haveHeadersGone = false;
  #kept: KeptMessage | undefined = undefined;
  /** What was kept is on its way: what comes meanwhile goes behind it. */
  #isPumping = false;
  #wait: ScriptWait | undefined = undefined;
  /** How the message goes on when what is awaited fails, and the policy lets it. */
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
    const result = this.#call(onHeaders, headers, endStream);
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
    if (this.#isMoving && !this.#isPumping) {
      if (onChunk === undefined || this.#mode === 'open') return 'continue';
      this.#chunk(onChunk, Buffer.from(data), isEnd);
      return 'taken';
    }
    this.#keep(data, isEnd);
    return 'taken';
  }

  onTrailers(trailers: HeaderMap): TrailersStatus {
    const { onTrailers } = this.#half;
    if (this.#mode === 'over') return 'stop';
    if (this.#isMoving && !this.#isPumping) {
      if (onTrailers === undefined || this.#mode === 'open') return 'continue';
      this.#trailersOf(onTrailers, trailers);
      return 'taken';
    }
    const kept = this.#message();
    kept.trailers = trailers;
    if (this.#mode === 'collecting') this.#collected(kept);
    return 'taken';
  }

  /** The stream is over, or answered by somebody else. */
  destroy(): void {
    this.#wait?.end();
    this.#mode = 'over';
    this.#kept?.drop();
  }

  /** Runs the module's own code. */
  #call<Value>(
    act: ((value: Value, stream: Stream, isLast: boolean) => unknown) | undefined,
    value: Value,
    isLast: boolean,
  ): unknown {
    if (act === undefined) return undefined;
    const instance = this.#instance;
    instance.enter();
    try {
      return act(value, this.#stream, isLast);
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
      if (this.#kept !== undefined) this.#collect(this.#kept);
      return;
    }
    this.#letHeadersGo();
    this.#pump();
  }

  /** The whole body is here, and the headers have not gone. */
  #collected(kept: KeptMessage): void {
    const { onBody } = this.#half;
    const isEnd = kept.trailers === undefined;
    const body = kept.takeBody();
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
    this.#settle(this.#call(onBody, body, true), after, () => after(undefined));
  }

  #chunk(onChunk: NonNullable<Half['onChunk']>, data: Buffer, isEnd: boolean): void {
    const after = (value: unknown): void => {
      this.#way.inject(this.#callbacks, bytesOf(value) ?? data, isEnd);
      if (this.#mode !== 'over') this.#pump();
    };
    this.#settle(this.#call(onChunk, data, isEnd), after, () => after(undefined));
  }

  #trailersOf(onTrailers: NonNullable<Half['onTrailers']>, trailers: HeaderMap): void {
    const after = (): void => this.#way.injectTrailers(this.#callbacks, trailers);
    this.#settle(this.#call(onTrailers, new ScriptHeaders(trailers), true), after, after);
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
    this.#wait ??= new ScriptWait(this.#instance, this.#callbacks);
    this.#wait.begin(
      promise,
      (value) => {
        this.#mode = 'passing';
        this.#accept(() => after(value));
      },
      (error) => this.#fail(error),
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
    this.#goOnWithout(this.#without);
  }

  #goOnWithout(act: () => void): void {
    if (!this.#failsOpen()) return this.#refuse();
    this.#mode = 'open';
    if (!this.#haveHeadersGone) this.#letHeadersGo();
    act();
    if (this.#kept?.isEmpty === false) this.#pump();
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
    this.#without = () => this.#pump();
    this.#accept(() => {
      const local = localReply(reply);
      this.#instance.count('replies');
      this.destroy();
      this.#way.reply(this.#callbacks, local);
    });
  }

  #letHeadersGo(): void {
    if (this.#haveHeadersGone) return;
    this.#haveHeadersGone = true;
    this.#way.continueHeaders(this.#callbacks);
  }

  /** Gives the module what has come meanwhile, until it takes its time again. */
  #pump(): void {
    // A function that settles at once comes back here: the loop below goes on then.
    if (this.#isPumping) return;
    this.#isPumping = true;
    const { onChunk, onTrailers } = this.#half;
    while (this.#isMoving) {
      const piece = this.#kept?.take();
      if (piece === undefined) break;
      if (this.#mode === 'passing' && onChunk !== undefined) {
        this.#chunk(onChunk, piece.data, piece.isEnd);
      } else this.#way.inject(this.#callbacks, piece.data, piece.isEnd);
    }
    this.#isPumping = false;
    const trailers = this.#isMoving ? this.#kept?.takeTrailers() : undefined;
    if (trailers === undefined) return;
    if (this.#mode === 'passing' && onTrailers !== undefined) {
      this.#trailersOf(onTrailers, trailers);
    } else this.#way.injectTrailers(this.#callbacks, trailers);
  }

  get #isMoving(): boolean {
    return this.#mode === 'passing' || this.#mode === 'open';
  }

  #keep(data: Buffer, isEnd: boolean): void {
    const kept = this.#message();
    kept.add(data, isEnd);
    if (this.#mode !== 'collecting') return kept.pauseWhenFull();
    this.#collect(kept);
  }

  /** What came while the headers were asked about counts, too. */
  #collect(kept: KeptMessage): void {
    if (kept.isTooLarge) {
      this.destroy();
      this.#way.refuseTooLarge(this.#callbacks, this.#instance.context);
    } else if (kept.isWhole) this.#collected(kept);
  }

  #message(): KeptMessage {
    const { loop, bufferLimitBytes } = this.#instance.context;
    this.#kept ??= new KeptMessage(loop.held, bufferLimitBytes, (isPaused) =>
      this.#way.pause(this.#callbacks, isPaused),
    );
    return this.#kept;
  }
}
