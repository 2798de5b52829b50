/** Coroutines. What a script waits for within one passes through it to the script's driver. */
import { LuaError } from '../lua-error.ts';
import type { LuaState } from '../lua-state.ts';
import {
  listOf,
  LuaFunction,
  LuaThread,
  type LuaValue,
  type Results,
  type Running,
} from '../values.ts';
import { caught } from './caught.ts';
import type { Arguments } from './check-arguments.ts';

/** Coroutines that have resumed one another. */
const NESTED_MAX = 50;

/** What a coroutine gives to its resumer. */
export class LuaYield {
  readonly values: readonly LuaValue[];

  constructor(values: readonly LuaValue[]) {
    this.values = values;
  }
}

export function coroutineLibrary(state: LuaState, check: Arguments): Record<string, LuaValue> {
  const threads = new CoroutineThreads(state);
  return {
    create: (...args) => threads.make(check.callable(args, 0)),
    wrap: (...args) => {
      const thread = threads.make(check.callable(args, 0));
      return new LuaFunction((...values) => threads.resume(thread, values));
    },
    resume: new LuaFunction(function* (...args) {
      const thread = threadOf(check, args);
      try {
        return [true, ...listOf(yield* threads.resume(thread, args.slice(1)))];
      } catch (error) {
        return [false, caught(error)];
      }
    }),
    yield: new LuaFunction(function* (...args) {
      return (yield new LuaYield(args)) as Results;
    }),
    status: (...args) => threadOf(check, args).status,
    running: () => [state.thread, state.thread === undefined],
    isyieldable: () => state.thread !== undefined && !state.isUninterrupted,
  };
}

function threadOf(check: Arguments, args: readonly LuaValue[]): LuaThread {
  const [thread] = args;
  if (!(thread instanceof LuaThread)) throw check.wrong(args, 0, 'coroutine');
  return thread;
}

class CoroutineThreads {
  readonly #state: LuaState;
  #nested = 0;

  constructor(state: LuaState) {
    this.#state = state;
  }

  make(body: LuaValue): LuaThread {
    this.#state.charge(THREAD_BYTES);
    this.#state.spend(THREAD_STEPS);
    return new LuaThread(body as LuaFunction);
  }

  *resume(thread: LuaThread, args: readonly LuaValue[]): Running {
    const state = this.#state;
    if (thread.status !== 'suspended') {
      throw new LuaError(
        `cannot resume ${thread.status === 'dead' ? 'dead' : 'non-suspended'} coroutine`,
      );
    }
    if (this.#nested >= NESTED_MAX) throw new LuaError('C stack overflow');
    const outer = { thread: state.thread, sites: state.sites, depth: state.depth };
    if (outer.thread !== undefined) outer.thread.status = 'normal';
    thread.status = 'running';
    state.thread = thread;
    state.sites = thread.sites;
    state.depth = thread.depth;
    try {
      const result = yield* this.#drive(thread, args);
      thread.depth = state.depth;
      return result;
    } catch (error) {
      thread.status = 'dead';
      throw error;
    } finally {
      state.thread = outer.thread;
      state.sites = outer.sites;
      state.depth = outer.depth;
      if (outer.thread !== undefined) outer.thread.status = 'running';
    }
  }

  *#drive(thread: LuaThread, args: readonly LuaValue[]): Running {
    let input: unknown = args;
    thread.running ??= this.#state.call(thread.body, args);
    for (;;) {
      this.#nested += 1;
      let step: IteratorResult<unknown, Results>;
      try {
        step = thread.running.next(input);
      } finally {
        this.#nested -= 1;
      }
      if (step.done === true) {
        thread.status = 'dead';
        return step.value;
      }
      if (step.value instanceof LuaYield) {
        thread.status = 'suspended';
        return step.value.values;
      }
      input = yield step.value;
    }
  }
}

const THREAD_BYTES = 512;
const THREAD_STEPS = 50;
