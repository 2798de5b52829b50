/** What is counted of the Thrift requests of a cluster, by names that occur with the first of them. */
import type { StatWriter } from '../../shared/stats/stat-writer.ts';

export class ClusterCounts {
  readonly #stats: StatWriter;
  readonly #indices = new Map<string, number>();

  constructor(stats: StatWriter) {
    this.#stats = stats;
  }

  /** `prefix` is the cluster's, with its dot. */
  count(prefix: string, name: string): void {
    const whole = `${prefix}thrift.${name}`;
    let index = this.#indices.get(whole);
    if (index === undefined) {
      index = this.#stats.defineCounter(whole);
      this.#indices.set(whole, index);
    }
    this.#stats.increment(index);
  }

  release(): void {
    for (const name of this.#indices.keys()) this.#stats.releaseNamed(name);
  }
}
