/** Any host with the same chance; weights do not count, as in Envoy. */
import type { UpstreamHost } from '../hosts/host.ts';
import type { HostPicker } from './load-balancer.ts';

export class RandomPicker implements HostPicker {
  readonly #hosts: readonly UpstreamHost[];
  readonly #random: () => number;

  /** `random` gives numbers from 0, below 1. */
  constructor(hosts: readonly UpstreamHost[], random: () => number) {
    this.#hosts = hosts;
    this.#random = random;
  }

  pick(): UpstreamHost | undefined {
    return this.#hosts[Math.floor(this.#random() * this.#hosts.length)];
  }
}
