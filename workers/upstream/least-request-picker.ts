/**
 * Chooses the least busy of a few hosts drawn at random; where weights differ, hosts take turns by
 * weight divided by how busy they are. Busy is what this worker has sent and not seen answered.
 */
import type { LeastRequestOptions } from '../../shared/resources/lb-policy.ts';
import type { UpstreamHost } from './host.ts';
import type { HostPicker } from './load-balancer.ts';
import { sinkFirst } from './deadline-heap.ts';
import type { SlowStart } from './slow-start.ts';

export interface LeastRequestParts {
  readonly options: LeastRequestOptions;
  /** Numbers from 0, below 1. */
  readonly random: () => number;
  readonly activeRequests: (host: UpstreamHost) => number;
  readonly slowStart?: SlowStart | undefined;
}

interface Turn {
  readonly host: UpstreamHost;
  deadline: number;
}

export class LeastRequestPicker implements HostPicker {
  readonly #parts: LeastRequestParts;
  readonly #hosts: readonly UpstreamHost[];
  /** A heap by deadline; only where weights differ or hosts have not their whole weight yet. */
  readonly #turns: Turn[];
  readonly #isEven: boolean;
  readonly #slowUntilMs: number;

  constructor(hosts: readonly UpstreamHost[], parts: LeastRequestParts) {
    this.#parts = parts;
    this.#hosts = hosts;
    const first = hosts[0]?.weight;
    this.#isEven = hosts.every((host) => host.weight === first);
    this.#slowUntilMs = parts.slowStart?.endMs(hosts) ?? 0;
    this.#turns = this.#isPlain()
      ? []
      : hosts
          .map((host) => ({ host, deadline: 1 / host.weight }))
          .sort((left, right) => left.deadline - right.deadline);
  }

  pick(): UpstreamHost | undefined {
    return this.#isPlain() ? this.#pickOfFew() : this.#pickByTurn();
  }

  #isPlain(): boolean {
    return this.#isEven && (this.#parts.slowStart?.isOver(this.#slowUntilMs) ?? true);
  }

  #pickOfFew(): UpstreamHost | undefined {
    const { options, random, activeRequests } = this.#parts;
    if (options.scansAll === true) return this.#leastOfAll();
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

  /** Among equals each is as likely. */
  #leastOfAll(): UpstreamHost | undefined {
    const { activeRequests, random } = this.#parts;
    let best: UpstreamHost | undefined;
    let least = Number.POSITIVE_INFINITY;
    let equals = 0;
    for (const host of this.#hosts) {
      const active = activeRequests(host);
      equals = active < least ? 1 : equals + 1;
      if (active > least || (active === least && random() * equals >= 1)) continue;
      best = host;
      least = active;
    }
    return best;
  }

  #pickByTurn(): UpstreamHost | undefined {
    const { options, activeRequests, slowStart } = this.#parts;
    const heap = this.#turns;
    const next = heap[0];
    if (next === undefined) return undefined;
    const busy = (activeRequests(next.host) + 1) ** options.activeRequestBias;
    next.deadline += busy / (next.host.weight * (slowStart?.factorOf(next.host) ?? 1));
    sinkFirst(heap);
    return next.host;
  }
}
