/** One version of a module with the settings of one filter: its functions, and what happens to their faults. */
import type { FilterHandlers } from '../../../../shared/scripts/filter.ts';
import type { Endable } from '../../../../shared/process/exceptions.ts';
import {
  SCRIPT,
  type ScriptFilterSettings,
} from '../../../../shared/resources/filters/http/script/script.ts';
import type { FilterContext } from '../../filter-context.ts';
import type { CallBudget } from './script-fetch.ts';
import { type Half, requestHalf, responseHalf } from './script-half.ts';
import type { ScriptMarks } from '../../../../shared/limits/script-page.ts';

/** The limit of one stack in the log. */
const STACK_CHARACTERS_MAX = 4_096;
/** Stacks of one filter that are written within a period; others are counted. */
const STACKS_MAX = 20;
const STACKS_PERIOD_MS = 60_000;

/** What a filter has whatever its module is. */
export interface ScriptParts {
  readonly settings: ScriptFilterSettings;
  readonly context: FilterContext;
  readonly base: number;
  readonly budget: CallBudget;
  readonly marks: ScriptMarks;
  readonly log: FaultLog;
}

/** Writes stacks, a bounded number of them. */
export class FaultLog {
  readonly #context: Pick<FilterContext, 'loop' | 'log'>;
  readonly #name: string;
  #written = 0;
  #sinceMs = Number.NEGATIVE_INFINITY;

  constructor(context: Pick<FilterContext, 'loop' | 'log'>, name: string) {
    this.#context = context;
    this.#name = name;
  }

  write(error: unknown): void {
    const nowMs = this.#context.loop.clock.ms;
    if (nowMs - this.#sinceMs > STACKS_PERIOD_MS) {
      this.#sinceMs = nowMs;
      this.#written = 0;
    }
    if (this.#written++ >= STACKS_MAX) return;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const line = `script ${this.#name}: ${text.slice(0, STACK_CHARACTERS_MAX)}`;
    this.#context.log('error', 'filter', line);
  }
}

export class ScriptInstance {
  readonly parts: ScriptParts;
  readonly handlers: FilterHandlers;
  readonly moduleId: number;
  readonly makeState: (() => unknown) | undefined;
  readonly request: Half;
  readonly response: Half;
  /** It has no function at all: nothing is made for its streams. */
  readonly isEmpty: boolean;

  constructor(
    parts: ScriptParts,
    handlers: FilterHandlers,
    moduleId: number,
    makeState: (() => unknown) | undefined,
  ) {
    this.parts = parts;
    this.handlers = handlers;
    this.moduleId = moduleId;
    this.request = requestHalf(handlers);
    this.response = responseHalf(handlers);
    this.isEmpty = this.request.isEmpty && this.response.isEmpty && handlers.onEnd === undefined;
    this.makeState = makeState;
  }

  get context(): FilterContext {
    return this.parts.context;
  }

  get budget(): CallBudget {
    return this.parts.budget;
  }

  enter(): void {
    this.parts.marks.enter(this.moduleId);
  }

  leave(): void {
    this.parts.marks.leave();
  }

  count(stat: Exclude<keyof typeof SCRIPT.index, 'disabled'>): void {
    this.parts.context.stats.increment(this.parts.base + SCRIPT.index[stat]);
  }

  noteFault(error: unknown): void {
    this.count('errors');
    this.parts.log.write(error);
  }

  /** Runs what has no outcome for the message: its faults are counted and written down. */
  guard(owner: Endable | undefined, act: () => unknown): void {
    this.context.loop.run(owner, () => {
      this.enter();
      try {
        const result = act();
        if (isPromise(result)) void this.later(result, () => undefined);
      } catch (error) {
        this.noteFault(error);
      }
      this.leave();
    });
  }

  /** Waits for a promise that nobody else waits for. */
  async later(promise: PromiseLike<unknown>, done: () => void): Promise<void> {
    try {
      await promise;
    } catch (error) {
      this.noteFault(error);
    }
    done();
  }
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { readonly then?: unknown }).then === 'function'
  );
}
