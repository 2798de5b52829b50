/**
 * Chooses the least busy of a few hosts drawn at random; where weights differ, hosts take turns by
 * weight divided by how busy they are. Busy is what this worker has sent and not seen answered.
 */
import type { LeastRequestOptions } from '../../shared/resources/lb-policy.ts';
import type { UpstreamHost } from './host.ts';
import type { HostPicker } from './load-balancer.ts';
import { DeadlineHeap } from './deadline-heap.ts';
import type { SlowStart } from './slow-start.ts';

export interface LeastRequestParts {
  readonly options: LeastRequestOptions;
  /** Numbers from 0, below 1. */
  readonly random: () => number;
  readonly activeRequests: (host: UpstreamHost) => number;
  readonly slowStart?: SlowStart | undefined;
}

export class LeastRequestPicker implements HostPicker {
  readonly #parts: LeastRequestParts;
  readonly #hosts: readonly UpstreamHost[];
  /** Turns by weight; only where weights differ or hosts have not their whole weight yet. */
  readonly #turns: DeadlineHeap | undefined;
  /** By position: a host's own weight is several steps away. */
  readonly #weights: Float64Array;
  readonly #isEven: boolean;
  readonly #slowUntilMs: number;

  constructor(hosts: readonly UpstreamHost[], parts: LeastRequestParts) {
    this.#parts = parts;
    this.#hosts = hosts;
    const first = hosts[0]?.weight;
    this.#isEven = hosts.every((host) => host.weight === first);
    this.#slowUntilMs = parts.slowStart?.endMs(hosts) ?? 0;
    this.#weights = Float64Array.from(this.#isPlain() ? [] : hosts, ({ weight }) => weight);
    this.#turns = this.#isPlain()
      ? undefined
      : new DeadlineHeap(hosts.map(({ weight }) => 1 / weight));
  }

  pick(): UpstreamHost | undefined {
    const turns = this.#turns;
    return turns === undefined || this.#isPlain() ? this.#pickOfFew() : this.#pickByTurn(turns);
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

  #pickByTurn(turns: DeadlineHeap): UpstreamHost | undefined {
    const { options, activeRequests, slowStart } = this.#parts;
    const at = turns.first;
    const host = this.#hosts[at];
    if (host === undefined) return undefined;
    const bias = options.activeRequestBias;
    const open = activeRequests(host) + 1;
    const busy = bias === 1 ? open : open ** bias;
    turns.delayFirst(busy / ((this.#weights[at] ?? 1) * (slowStart?.factorOf(host) ?? 1)));
    return host;
  }
}
