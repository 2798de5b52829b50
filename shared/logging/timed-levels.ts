/** Log levels that go back by themselves: for a look that is soon forgotten. */
import type { Clock, Timer } from '../process/clock.ts';
import type { LogLevels } from './log-settings.ts';
import type { LoggerRegistry } from './logger-registry.ts';

export class TimedLevels {
  readonly #registry: LoggerRegistry;
  readonly #clock: Clock;
  /** The levels before the first change with a time, while it holds. */
  #before: LogLevels | undefined;
  #timer: Timer | undefined;
  #endsMs = 0;

  constructor(registry: LoggerRegistry, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  /** The time left of the change in force; undefined: what is set stays. */
  get leftMs(): number | undefined {
    return this.#timer === undefined ? undefined : this.#endsMs - this.#clock.monotonicMs();
  }

  /** A change holds for so long, after which `before` is in force again, or what an earlier one had. */
  begin(forMs: number, before: LogLevels): void {
    this.#before ??= before;
    this.#timer?.cancel();
    this.#endsMs = this.#clock.monotonicMs() + forMs;
    this.#timer = this.#clock.after(forMs, () => this.#goBack(), { unref: true });
  }

  /** What is set now stays. */
  keep(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#before = undefined;
  }

  #goBack(): void {
    const levels = this.#before;
    this.keep();
    if (levels !== undefined) this.#registry.restore(levels);
  }
}
