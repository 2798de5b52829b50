/**
 * Takes the host that a request header names, while it is in the cluster and not unhealthy; else the
 * policy behind it chooses. A header may name several: each further draw takes the next one.
 */
import type { UpstreamHost } from './host.ts';
import type { BalanceContext, LoadBalancer } from './load-balancer.ts';

export class OverrideBalancer implements LoadBalancer {
  readonly #headers: readonly string[];
  readonly #otherwise: LoadBalancer;
  #hosts: ReadonlyMap<string, UpstreamHost> = new Map();
  #hasNamed = false;

  constructor(headers: readonly string[], otherwise: LoadBalancer) {
    this.#headers = headers;
    this.#otherwise = otherwise;
  }

  get isPanicking(): boolean {
    return !this.#hasNamed && this.#otherwise.isPanicking;
  }

  choose(context: BalanceContext, draw: number): UpstreamHost | undefined {
    const named = this.#named(context)[draw];
    this.#hasNamed = named !== undefined;
    return named ?? this.#otherwise.choose(context, draw);
  }

  update(hosts: readonly UpstreamHost[], overprovisioningFactor: number): void {
    this.#hosts = new Map(hosts.map((host) => [host.id, host]));
    this.#otherwise.update(hosts, overprovisioningFactor);
  }

  #named({ requestHeaders }: BalanceContext): readonly UpstreamHost[] {
    for (const header of this.#headers) {
      const text = requestHeaders.get(header);
      if (text === undefined) continue;
      const hosts = text.split(',').map((id) => this.#hosts.get(id.trim()));
      return hosts
        .filter((host) => host !== undefined)
        .filter(({ health }) => health !== 'unhealthy');
    }
    return [];
  }
}
