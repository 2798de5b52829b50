/** Hosts in turn; where weights differ, as often as their weights say, without bursts. */
import { sinkFirst } from './deadline-heap.ts';
import type { UpstreamHost } from './host.ts';
import type { HostPicker } from './load-balancer.ts';
import type { SlowStart } from './slow-start.ts';

interface WeightedEntry {
  readonly host: UpstreamHost;
  deadline: number;
}

export class RoundRobinPicker implements HostPicker {
  readonly #hosts: readonly UpstreamHost[];
  readonly #slowStart: SlowStart | undefined;
  #next: number;
  /** A heap by deadline; only where weights differ. */
  readonly #schedule: WeightedEntry[];

  /**
   * `seed` is where the round begins: a whole number that differs between workers, so that they do
   * not all begin with the same host.
   */
  constructor(hosts: readonly UpstreamHost[], seed: number, slowStart?: SlowStart) {
    this.#hosts = hosts;
    this.#next = seed;
    this.#slowStart = slowStart;
    const first = hosts[0]?.weight;
    const isEven = slowStart === undefined && hosts.every((host) => host.weight === first);
    this.#schedule = isEven
      ? []
      : hosts
          .map((host) => ({ host, deadline: 1 / this.#weightOf(host) }))
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
    top.deadline += 1 / this.#weightOf(top.host);
    sinkFirst(heap);
    return top.host;
  }

  #weightOf(host: UpstreamHost): number {
    return this.#slowStart === undefined
      ? host.weight
      : host.weight * this.#slowStart.factorOf(host);
  }
}
