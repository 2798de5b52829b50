/**
 * Chooses the least busy of a few hosts drawn at random; where weights differ, hosts take turns by
 * weight divided by how busy they are. Busy is what this worker has sent and not seen answered.
 */
import type { LeastRequestOptions } from '../../shared/resources/cluster.ts';
import type { UpstreamHost } from './host.ts';
import type { HostPicker } from './load-balancer.ts';
import { sinkFirst } from './deadline-heap.ts';

export interface LeastRequestParts {
  readonly options: LeastRequestOptions;
  /** Numbers from 0, below 1. */
  readonly random: () => number;
  readonly activeRequests: (host: UpstreamHost) => number;
}

interface Turn {
  readonly host: UpstreamHost;
  deadline: number;
}

export class LeastRequestPicker implements HostPicker {
  readonly #parts: LeastRequestParts;
  readonly #hosts: readonly UpstreamHost[];
  /** A heap by deadline; only where weights differ. */
  readonly #turns: Turn[];

  constructor(hosts: readonly UpstreamHost[], parts: LeastRequestParts) {
    this.#parts = parts;
    this.#hosts = hosts;
    const first = hosts[0]?.weight;
    this.#turns = hosts.every((host) => host.weight === first)
      ? []
      : hosts
          .map((host) => ({ host, deadline: 1 / host.weight }))
          .sort((left, right) => left.deadline - right.deadline);
  }

  pick(): UpstreamHost | undefined {
    return this.#turns.length > 0 ? this.#pickByTurn() : this.#pickOfFew();
  }

  #pickOfFew(): UpstreamHost | undefined {
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

  #pickByTurn(): UpstreamHost | undefined {
    const { options, activeRequests } = this.#parts;
    const heap = this.#turns;
    const next = heap[0];
    if (next === undefined) return undefined;
    const busy = (activeRequests(next.host) + 1) ** options.activeRequestBias;
    next.deadline += busy / next.host.weight;
    sinkFirst(heap);
    return next.host;
  }
}
