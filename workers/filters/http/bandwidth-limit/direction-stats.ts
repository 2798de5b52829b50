/** What one body adds to the stats of a bandwidth limit, and how long it took. */
import { HTTP_BANDWIDTH_LIMIT } from '../../../../shared/resources/filters/http/limits/bandwidth-limit.ts';
import type { FilterContext } from '../../filter-context.ts';

type Direction = 'request' | 'response';

export class DirectionStats {
  readonly #direction: Direction;
  readonly #base: number;
  readonly #context: FilterContext;
  #beganMs = -1;
  #waitsSinceMs = -1;
  #isPending = false;
  /** Whole milliseconds from the first byte to the last. */
  tookMs = 0;
  /** The part of these times while bytes had to wait here. */
  waitedMs = 0;

  constructor(direction: Direction, base: number, context: FilterContext) {
    this.#direction = direction;
    this.#base = base;
    this.#context = context;
  }

  enabled(): void {
    this.#context.stats.increment(this.#index('enabled'));
  }

  came(bytes: number): void {
    const { stats, loop } = this.#context;
    if (this.#beganMs < 0) {
      this.#beganMs = loop.clock.ms;
      this.#isPending = true;
      stats.add(this.#index('pending'), 1);
    }
    this.#set('incoming_size', bytes);
    stats.add(this.#index('incoming_total_size'), bytes);
  }

  allowed(bytes: number, waits: boolean): void {
    const { stats, loop } = this.#context;
    if (waits) {
      stats.increment(this.#index('enforced'));
      if (this.#waitsSinceMs < 0) this.#waitsSinceMs = loop.clock.ms;
    } else this.#endWait();
    if (bytes === 0) return;
    this.#set('allowed_size', bytes);
    stats.add(this.#index('allowed_total_size'), bytes);
  }

  ended(): void {
    if (!this.#isPending) return;
    this.#isPending = false;
    this.#endWait();
    const { stats, loop } = this.#context;
    this.tookMs = Math.floor(loop.clock.ms - this.#beganMs);
    stats.subtract(this.#index('pending'), 1);
    stats.record(this.#index('transfer_duration'), this.tookMs);
  }

  #endWait(): void {
    if (this.#waitsSinceMs < 0) return;
    this.waitedMs += Math.floor(this.#context.loop.clock.ms - this.#waitsSinceMs);
    this.#waitsSinceMs = -1;
  }

  #set(gauge: 'incoming_size' | 'allowed_size', value: number): void {
    const { stats } = this.#context;
    const index = this.#index(gauge);
    const before = stats.valueOf(index);
    if (value > before) stats.add(index, value - before);
    else if (value < before) stats.subtract(index, before - value);
  }

  #index(
    name:
      | 'enabled'
      | 'enforced'
      | 'pending'
      | 'incoming_size'
      | 'incoming_total_size'
      | 'allowed_size'
      | 'allowed_total_size'
      | 'transfer_duration',
  ): number {
    return this.#base + HTTP_BANDWIDTH_LIMIT.index[`${this.#direction}_${name}`];
  }
}
