/**
 * Takes the host that a request header names, while it is in the cluster and not unhealthy; else the
 * policy behind it chooses. A header may name several: each further draw takes the next one.
 */
import { ITEMS_PER_STEP, type Steps } from '../sliced-work.ts';
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

  *prepare(hosts: readonly UpstreamHost[], overprovisioningFactor: number): Steps<() => void> {
    const byId = new Map<string, UpstreamHost>();
    for (const host of hosts) {
      byId.set(host.id, host);
      if (byId.size % ITEMS_PER_STEP === 0) yield;
    }
    const putInForce = yield* this.#otherwise.prepare(hosts, overprovisioningFactor);
    return () => {
      this.#hosts = byId;
      putInForce();
    };
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
