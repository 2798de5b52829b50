/** Chooses any host with the same chance; weights do not count, as in the reference. */
import type { UpstreamHost } from './host.ts';
import { eligibleHosts, type LoadBalancer } from './load-balancer.ts';

export class RandomBalancer implements LoadBalancer {
  readonly #panicThreshold: number;
  readonly #random: () => number;
  #hosts: readonly UpstreamHost[] = [];
  isPanicking = false;

  /** `panicThreshold` is in percent; `random` gives numbers from 0, below 1. */
  constructor(panicThreshold: number, random: () => number) {
    this.#panicThreshold = panicThreshold;
    this.#random = random;
  }

  choose(): UpstreamHost | undefined {
    return this.#hosts[Math.floor(this.#random() * this.#hosts.length)];
  }

  update(hosts: readonly UpstreamHost[]): void {
    const eligible = eligibleHosts(hosts, this.#panicThreshold);
    this.#hosts = eligible.hosts;
    this.isPanicking = eligible.isPanicking;
  }
}
