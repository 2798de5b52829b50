/**
 * One direction of a stream with the script's function that runs for it. The function waits for parts
 * of the message or for calls; meanwhile what comes is kept, and the peer is told to wait.
 */
import { LuaError, LuaLimitError } from '../../../../shared/lua/lua-error.ts';
import { plainText } from '../../../../shared/lua/lua-state.ts';
import { PAUSE } from '../../../../shared/lua/script-limits.ts';
import type { ScriptRun } from '../../../../shared/lua/script-run.ts';
import type { LuaValue } from '../../../../shared/lua/values.ts';
import type { DataStatus, HeadersStatus, TrailersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { BodyObject } from './body-object.ts';
import { HeaderObject, type HeaderRights } from './header-object.ts';
import { MessageQueue } from './message-queue.ts';
import type { Direction, SideParts } from './side-parts.ts';
import { type CallOwner, ScriptCall } from './script-call.ts';
import { type HandledSide, StreamHandle, type Wish } from './stream-handle.ts';
import type { Scope } from './stream-object.ts';

/** `free`: the function is over; `busy`: it waits for something else than its message. */
type Mode = 'free' | 'chunk' | 'body' | 'trailers' | 'busy' | 'answered';

export class ScriptedSide implements HandledSide, CallOwner {
  readonly parts: SideParts;
  readonly #queue: MessageQueue;
  readonly #scope: Scope = { isLive: true };
  readonly headers: HeaderRights & { readonly map: HeaderMap };
  #mode: Mode = 'free';
  #run: ScriptRun | undefined = undefined;
  #call: ScriptCall | undefined = undefined;
  /** Within the event of the headers, which go on by its result. */
  #isInHeaders = false;
  #haveHeadersGone = false;
  #hasBody = false;
  #isEnded = false;
  #trailers: HeaderMap | undefined = undefined;
  #body: BodyObject | undefined = undefined;

  constructor(parts: SideParts, direction: Direction, map: HeaderMap) {
    this.parts = parts;
    this.#queue = new MessageQueue(parts.context.loop.held, direction);
    this.headers = {
      map,
      canChange: () => !this.#haveHeadersGone,
      onChange: () => undefined,
    };
  }

  start(callee: LuaValue, endStream: boolean): HeadersStatus {
    const { script } = this.parts;
    this.#isEnded = endStream;
    this.#run = script.machine.start(callee, [
      new StreamHandle(script.methods.handle, this.#scope, this),
    ]);
    this.#isInHeaders = true;
    this.#drive(undefined);
    this.#isInHeaders = false;
    if (!this.#passes) return 'stop';
    this.#haveHeadersGone = true;
    return 'continue';
  }

  onData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#mode === 'answered') return 'stop';
    if (this.#mode === 'free' && this.#queue.isEmpty) return 'continue';
    this.#queue.take(data, endStream);
    if (this.#mode === 'body' && this.#queue.bytes > this.parts.context.bufferLimitBytes) {
      this.#abandon();
      this.#queue.direction.refuseTooLarge();
      return 'stop';
    }
    this.#pump();
    return 'taken';
  }

  onTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#mode === 'answered') return 'stop';
    if (this.#mode === 'free' && this.#queue.isEmpty) return 'continue';
    this.#queue.incomingTrailers = trailers;
    this.#pump();
    return 'taken';
  }

  /** The stream is over, or answered by somebody else. */
  destroy(): void {
    this.#abandon();
    this.#mode = 'answered';
  }

  bodyProblem(method: string): string | undefined {
    if (this.#body !== undefined)
      return method === 'body' ? undefined : 'cannot call bodyChunks() after body()';
    if (this.#hasBody) return `cannot call ${method}() after body streaming has started`;
    return undefined;
  }

  respondProblem(): string | undefined {
    if (!this.#queue.direction.isRequest)
      return 'respond() not currently supported in the response path';
    return this.#haveHeadersGone
      ? 'respond() cannot be called if headers have been continued'
      : undefined;
  }

  onCallResult(values: readonly LuaValue[]): void {
    this.#call = undefined;
    if (this.#mode !== 'busy') return;
    this.#drive(values);
    this.#pump();
  }

  onException(): void {
    this.parts.callbacks.onException();
  }

  get #passes(): boolean {
    return this.#mode === 'free' || this.#mode === 'chunk' || this.#mode === 'trailers';
  }

  /** Gives the function what it waited for, until it waits for something that is not there. */
  #drive(value: LuaValue | readonly LuaValue[]): void {
    const run = this.#run;
    if (run === undefined) return;
    let input = value;
    this.#mode = 'busy';
    try {
      for (;;) {
        const step = run.resume(input);
        if (step.isOver) return this.#end();
        if (step.wanted === PAUSE) return this.#takeTurns();
        const ready = this.#fulfil(step.wanted as Wish);
        if (ready === undefined) return;
        input = ready.value;
      }
    } catch (error) {
      if (!(error instanceof LuaError || error instanceof LuaLimitError)) throw error;
      this.#fail(error);
    }
  }

  /** Undefined: later. */
  #fulfil(wish: Wish): { readonly value: LuaValue | readonly LuaValue[] } | undefined {
    switch (wish.kind) {
      case 'body':
        if (this.#body !== undefined) return { value: this.#body };
        if (this.#isEnded) return { value: wish.wrapsNone ? this.#wholeBody() : undefined };
        this.#mode = 'body';
        return undefined;
      case 'chunk':
        if (this.#isEnded) return { value: undefined };
        this.#mode = 'chunk';
        return undefined;
      case 'trailers':
        if (this.#trailers !== undefined) return { value: this.#trailersObject(this.#trailers) };
        if (this.#isEnded) return { value: undefined };
        this.#mode = 'trailers';
        return undefined;
      case 'call':
        return this.#startCall(wish);
      case 'respond':
        this.#abandon();
        this.#mode = 'answered';
        this.#queue.direction.respond(wish);
        return undefined;
    }
  }

  #startCall({
    call,
  }: Extract<Wish, { kind: 'call' }>): { readonly value: readonly LuaValue[] } | undefined {
    const { context } = this.parts;
    const started = new ScriptCall(call, this.parts.script.machine.state);
    if (call.isAsynchronous) {
      started.start(context, this.parts.callbacks.info.connection, undefined);
      return { value: [] };
    }
    const values = started.start(context, this.parts.callbacks.info.connection, this);
    if (values !== undefined) return { value: values };
    this.#call = started;
    return undefined;
  }

  /** A slice of the script was over: it goes on when others have had their turn. */
  #takeTurns(): void {
    const { loop } = this.parts.context;
    loop.slices.add(() => {
      if (this.#mode !== 'busy') return true;
      loop.current = this.parts.callbacks;
      this.#drive(undefined);
      this.#pump();
      loop.leave();
      return true;
    });
  }

  #end(): void {
    this.#mode = 'free';
    this.#scope.isLive = false;
    this.#run = undefined;
    this.parts.script.afterRun();
  }

  #fail(error: LuaError | LuaLimitError): void {
    this.#end();
    this.parts.countError();
    this.parts.log(error instanceof LuaError ? plainText(error.value) : error.message);
  }

  #abandon(): void {
    this.#mode = 'answered';
    this.#scope.isLive = false;
    this.#run?.end();
    this.#run = undefined;
    this.#call?.cancel();
    this.#call = undefined;
    this.#queue.clear();
  }

  /** What has come goes to the function, and on, as far as it may. */
  #pump(): void {
    const queue = this.#queue;
    while (this.#mode !== 'busy' && this.#mode !== 'answered') {
      const piece = queue.incoming.shift();
      if (piece !== undefined) this.#see(piece.data, piece.isEnd);
      else if (queue.incomingTrailers !== undefined) this.#seeTrailers(queue.incomingTrailers);
      else break;
    }
    if (this.#passes && !this.#isInHeaders) this.#flush();
    else if (this.#mode === 'busy') this.#queue.pauseWhenFull(this.parts.context.bufferLimitBytes);
  }

  #see(data: Buffer, isEnd: boolean): void {
    const { outgoing } = this.#queue;
    const mode = this.#mode;
    this.#hasBody = true;
    if (isEnd) {
      this.#isEnded = true;
      this.#queue.outgoingEnds = true;
    }
    const piece = new BodyObject(this.parts.script.methods.body, this.#scope, { bytes: data });
    outgoing.push(piece);
    if (mode === 'chunk' && (data.length > 0 || !isEnd)) this.#drive(piece);
    else if (mode === 'body' && isEnd) this.#drive(this.#wholeBody());
    else if (isEnd && (mode === 'trailers' || mode === 'chunk')) this.#drive(undefined);
  }

  #seeTrailers(trailers: HeaderMap): void {
    this.#queue.incomingTrailers = undefined;
    this.#queue.outgoingTrailers = trailers;
    this.#trailers = trailers;
    this.#isEnded = true;
    if (this.#mode === 'chunk') this.#drive(undefined);
    else if (this.#mode === 'body') this.#drive(this.#hasBody ? this.#wholeBody() : undefined);
    else if (this.#mode === 'trailers') this.#drive(this.#trailersObject(trailers));
  }

  #trailersObject(map: HeaderMap): HeaderObject {
    const rights = { canChange: () => true, onChange: () => undefined };
    return new HeaderObject(this.parts.script.methods.headers, this.#scope, {
      headers: map,
      rights,
    });
  }

  /** All that has come, as one; what is set takes its place, and says how long it is. */
  #wholeBody(): BodyObject {
    const { outgoing } = this.#queue;
    const bytes = Buffer.concat(outgoing.map((each) => each.bytes));
    const body = new BodyObject(this.parts.script.methods.body, this.#scope, {
      bytes,
      onSet: (set) => {
        if (this.#haveHeadersGone) return;
        this.headers.map.set('content-length', String(set.length));
        this.headers.map.remove('transfer-encoding');
      },
    });
    outgoing.length = 0;
    outgoing.push(body);
    this.#body = body;
    return body;
  }

  #flush(): void {
    const { direction } = this.#queue;
    const passOn = this.#queue.release();
    if (!this.#haveHeadersGone) {
      this.#haveHeadersGone = true;
      direction.continueHeaders();
    }
    passOn();
  }
}
