/** Statistics of a filter that is tested, by name. */
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { StatTemplate } from '../../shared/stats/template.ts';

export class TestedStats implements StatWriter {
  readonly #values: number[] = [];
  readonly #recorded = new Map<number, number[]>();
  readonly #indices = new Map<string, number>();

  defineBlock(template: StatTemplate, prefix: string): number {
    const [first = 0] = template.stats.map(({ name }) => this.#define(prefix + name));
    return first;
  }

  defineCounter(name: string): number {
    return this.#define(name);
  }

  defineGauge(name: string): number {
    return this.#define(name);
  }

  defineHistogram(name: string): number {
    return this.#define(name);
  }

  releaseBlock(): void {
    // They are read after the filter has gone, too.
  }

  releaseNamed(): void {
    // As above.
  }

  increment(index: number): void {
    this.add(index, 1);
  }

  add(index: number, amount: number): void {
    this.#values[index] = this.valueOf(index) + amount;
  }

  subtract(index: number, amount: number): void {
    this.add(index, -amount);
  }

  setGauge(index: number, value: number): void {
    this.#values[index] = value;
  }

  record(index: number, value: number): void {
    const values = this.#recorded.get(index);
    if (values === undefined) this.#recorded.set(index, [value]);
    else values.push(value);
  }

  valueOf(index: number): number {
    return this.#values[index] ?? 0;
  }

  /** Throws for one that is not there: a name that nobody counts by is a mistake of the test. */
  read(name: string): number {
    return this.valueOf(this.#find(name));
  }

  recorded(name: string): readonly number[] {
    return this.#recorded.get(this.#find(name)) ?? [];
  }

  #find(name: string): number {
    const index = this.#indices.get(name);
    if (index === undefined) throw new Error(`there is no statistic ${name}`);
    return index;
  }

  #define(name: string): number {
    const known = this.#indices.get(name);
    if (known !== undefined) return known;
    const index = this.#indices.size;
    this.#indices.set(name, index);
    return index;
  }
}
