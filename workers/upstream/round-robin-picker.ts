/** Hosts in turn; where weights differ, as often as their weights say, without bursts. */
import { sinkFirst } from './deadline-heap.ts';
import type { UpstreamHost } from './host.ts';
import type { HostPicker } from './load-balancer.ts';

interface WeightedEntry {
  readonly host: UpstreamHost;
  readonly weight: number;
  deadline: number;
}

export class RoundRobinPicker implements HostPicker {
  readonly #hosts: readonly UpstreamHost[];
  #next: number;
  /** A heap by deadline; only where weights differ. */
  readonly #schedule: WeightedEntry[];

  /**
   * `seed` is where the round begins: a whole number that differs between workers, so that they do
   * not all begin with the same host.
   */
  constructor(hosts: readonly UpstreamHost[], seed: number) {
    this.#hosts = hosts;
    this.#next = seed;
    const first = hosts[0]?.weight;
    this.#schedule = hosts.every((host) => host.weight === first)
      ? []
      : hosts
          .map((host) => ({ host, weight: host.weight, deadline: 1 / host.weight }))
          .sort((left, right) => left.deadline - right.deadline);
  }

  pick(): UpstreamHost | undefined {
    if (this.#schedule.length > 0) return this.#pickWeighted();
    const count = this.#hosts.length;
    if (count === 0) return undefined;
    if (this.#next >= count) this.#next %= count;
    return this.#hosts[this.#next++];
  }

  /** Earliest deadline first: each choice moves a host back by the inverse of its weight. */
  #pickWeighted(): UpstreamHost | undefined {
    const heap = this.#schedule;
    const top = heap[0];
    if (top === undefined) return undefined;
    top.deadline += 1 / top.weight;
    sinkFirst(heap);
    return top.host;
  }
}
