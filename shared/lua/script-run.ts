/** One run of a script's function, from its start over everything that it waits for to its end. */
import { LuaError, LuaLimitError } from './lua-error.ts';
import type { LuaState } from './lua-state.ts';
import { LuaYield } from './lib/coroutine-library.ts';
import { PAUSE, type RunUsage } from './script-limits.ts';
import type { LuaThread, LuaValue, Results, Running, Site } from './values.ts';

/** `wanted` is what a function of the host has yielded; PAUSE: others are to have their turn. */
export type RunState =
  | { readonly isOver: true; readonly results: Results }
  | { readonly isOver: false; readonly wanted: unknown };

export class ScriptRun {
  readonly #state: LuaState;
  readonly #running: Running;
  readonly #usage: RunUsage = { steps: 0, bytes: 0 };
  #sites: (Site | undefined)[] = [];
  #depth = 0;
  #thread: LuaThread | undefined = undefined;
  #isOver = false;

  constructor(state: LuaState, callee: LuaValue, args: readonly LuaValue[]) {
    this.#state = state;
    this.#running = state.call(callee, args);
  }

  /** Goes on with what was wanted. Throws a LuaError or a LuaLimitError, with which the run ends. */
  resume(value: unknown): RunState {
    const state = this.#state;
    this.#enter();
    try {
      const step = this.#running.next(value);
      if (step.done === true) {
        this.end();
        return { isOver: true, results: step.value };
      }
      if (step.value instanceof LuaYield)
        throw new LuaError('script performed an unexpected yield');
      return { isOver: false, wanted: step.value };
    } catch (error) {
      this.end();
      // The process's own stack came to its end first.
      if (error instanceof RangeError) throw new LuaError('stack overflow');
      throw error;
    } finally {
      state.leave();
      this.#sites = state.sites;
      this.#depth = state.depth;
      this.#thread = state.thread;
    }
  }

  /** Without waiting for its rest. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#state.endRun(this.#usage);
  }

  #enter(): void {
    const state = this.#state;
    state.usage = this.#usage;
    state.refill();
    state.sites = this.#sites;
    state.depth = this.#depth;
    state.thread = this.#thread;
    state.site = undefined;
  }
}

/** To its end; what cannot be had at once ends it. */
export function runNow(state: LuaState, callee: LuaValue, args: readonly LuaValue[] = []): Results {
  const run = new ScriptRun(state, callee, args);
  for (;;) {
    const step = run.resume(undefined);
    if (step.isOver) return step.results;
    if (step.wanted !== PAUSE) {
      run.end();
      throw new LuaLimitError('script waits where it cannot');
    }
  }
}
