/**
 * Chooses the least busy of a few hosts drawn at random; where weights differ, hosts take turns by
 * weight divided by how busy they are. Busy is what this worker has sent and not seen answered.
 */
import type { LeastRequestOptions } from '../../shared/resources/cluster.ts';
import type { UpstreamHost } from './host.ts';
import { eligibleHosts, type LoadBalancer } from './load-balancer.ts';

export interface LeastRequestParts {
  /** In percent. */
  readonly panicThreshold: number;
  readonly options: LeastRequestOptions;
  /** Numbers from 0, below 1. */
  readonly random: () => number;
  readonly activeRequests: (host: UpstreamHost) => number;
}

interface Turn {
  readonly host: UpstreamHost;
  deadline: number;
}

export class LeastRequestBalancer implements LoadBalancer {
  readonly #parts: LeastRequestParts;
  #hosts: readonly UpstreamHost[] = [];
  /** Only where weights differ. */
  #turns: readonly Turn[] = [];
  isPanicking = false;

  constructor(parts: LeastRequestParts) {
    this.#parts = parts;
  }

  choose(): UpstreamHost | undefined {
    return this.#turns.length > 0 ? this.#chooseByTurn() : this.#chooseOfFew();
  }

  update(hosts: readonly UpstreamHost[]): void {
    const eligible = eligibleHosts(hosts, this.#parts.panicThreshold);
    this.#hosts = eligible.hosts;
    this.isPanicking = eligible.isPanicking;
    const first = this.#hosts[0]?.weight;
    this.#turns = this.#hosts.every((host) => host.weight === first)
      ? []
      : this.#hosts.map((host) => ({ host, deadline: 1 / host.weight }));
  }

  #chooseOfFew(): UpstreamHost | undefined {
    const { options, random, activeRequests } = this.#parts;
    const count = this.#hosts.length;
    let best: UpstreamHost | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (let draw = 0; draw < options.choiceCount; draw++) {
      const host = this.#hosts[Math.floor(random() * count)];
      const active = host === undefined ? least : activeRequests(host);
      if (active >= least) continue;
      best = host;
      least = active;
    }
    return best;
  }

  #chooseByTurn(): UpstreamHost | undefined {
    const { options, activeRequests } = this.#parts;
    let next: Turn | undefined;
    for (const turn of this.#turns) {
      if (next === undefined || turn.deadline < next.deadline) next = turn;
    }
    if (next === undefined) return undefined;
    const busy = (activeRequests(next.host) + 1) ** options.activeRequestBias;
    next.deadline += busy / next.host.weight;
    return next.host;
  }
}
