/** Statistics of a module's own, below those of its filter. */
import type { Counter, Gauge, Histogram } from '../../../../shared/scripts/filter.ts';
import type { StatWriter } from '../../../../shared/stats/stat-writer.ts';

/** The limit of one filter. */
const STATS_MAX = 1_000;
const NAME = /^[\x21-\x7e]{1,256}$/;

type Kind = 'counter' | 'gauge' | 'histogram';

export class ScriptStats {
  readonly #stats: StatWriter;
  readonly #prefix: string;
  readonly #known = new Map<string, number>();

  /** `prefix` ends in a dot. */
  constructor(stats: StatWriter, prefix: string) {
    this.#stats = stats;
    this.#prefix = prefix;
  }

  counter(name: string): Counter {
    const index = this.#define('counter', name);
    return { add: (by = 1) => this.#stats.add(index, amount(by)) };
  }

  gauge(name: string): Gauge {
    const stats = this.#stats;
    const index = this.#define('gauge', name);
    return {
      set: (value) => stats.setGauge(index, amount(value)),
      add: (by = 1) => stats.add(index, amount(by)),
      subtract: (by = 1) => stats.subtract(index, Math.min(amount(by), stats.valueOf(index))),
    };
  }

  histogram(name: string): Histogram {
    const index = this.#define('histogram', name);
    return { record: (value) => this.#stats.record(index, amount(value)) };
  }

  release(): void {
    for (const key of this.#known.keys()) {
      this.#stats.releaseNamed(this.#prefix + key.slice(key.indexOf(' ') + 1));
    }
    this.#known.clear();
  }

  #define(kind: Kind, name: string): number {
    const key = `${kind} ${name}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (!NAME.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name of a statistic`);
    if (this.#known.size >= STATS_MAX) throw new RangeError('too many statistics');
    const whole = this.#prefix + name;
    const index = this.#make(kind, whole);
    this.#known.set(key, index);
    return index;
  }

  #make(kind: Kind, whole: string): number {
    if (kind === 'counter') return this.#stats.defineCounter(whole);
    if (kind === 'gauge') return this.#stats.defineGauge(whole);
    return this.#stats.defineHistogram(whole);
  }
}

function amount(value: number): number {
  if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`${value} is no value of a statistic`);
  }
  return Math.floor(value);
}
