/** Where a proxy counts the commands of one name. */
import type { LoopClock } from '../../loop/loop-clock.ts';
import { REDIS_COMMAND, REDIS_COMMAND_MICROS } from '../../../shared/stats/templates/redis.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';

/** Both templates have the same order. */
const { index } = REDIS_COMMAND;

export interface CommandCounterParts {
  readonly writer: StatWriter;
  readonly clock: Pick<LoopClock, 'ms'>;
  /** Times are counted in microseconds, else in milliseconds. */
  readonly hasMicroseconds: boolean;
}

export class CommandCounter {
  readonly #parts: CommandCounterParts;
  readonly #base: number;

  /** `prefix` ends in a dot. */
  constructor(prefix: string, parts: CommandCounterParts) {
    const template = parts.hasMicroseconds ? REDIS_COMMAND_MICROS : REDIS_COMMAND;
    this.#parts = parts;
    this.#base = parts.writer.defineBlock(template, prefix);
  }

  began(): void {
    this.#count(index.total);
  }

  /** `startedMs` undefined: the time is counted elsewhere. */
  finished(isGood: boolean, startedMs: number | undefined): void {
    this.#count(isGood ? index.success : index.error);
    if (startedMs !== undefined) this.took(startedMs);
  }

  failed(): void {
    this.#count(index.error);
  }

  madeToFail(): void {
    this.#count(index.error_fault);
  }

  delayed(startedMs: number): void {
    this.#count(index.delay_fault);
    this.took(startedMs);
  }

  took(startedMs: number): void {
    const { writer, clock, hasMicroseconds } = this.#parts;
    const ms = clock.ms - startedMs;
    const time = hasMicroseconds ? Math.round(ms * 1000) : Math.floor(ms);
    writer.record(this.#base + index.latency, time);
  }

  release(): void {
    this.#parts.writer.releaseBlock(this.#base);
  }

  #count(offset: number): void {
    this.#parts.writer.increment(this.#base + offset);
  }
}
