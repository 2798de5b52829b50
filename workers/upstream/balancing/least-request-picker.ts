/**
 * Chooses the least busy of a few hosts drawn at random; where weights differ, hosts take turns by
 * weight divided by how busy they are. Busy is what this worker has sent and not seen answered.
 */
import type { LeastRequestOptions } from '../../../shared/resources/clusters/lb-policy.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { HostPicker } from './load-balancer.ts';
import { ActiveRequests } from '../hosts/active-requests.ts';
import { TurnSchedule } from './turn-schedule.ts';
import type { SlowStart } from './slow-start.ts';

export interface LeastRequestParts {
  readonly options: LeastRequestOptions;
  /** Numbers from 0, below 1. */
  readonly random: () => number;
  readonly slowStart?: SlowStart | undefined;
}

export class LeastRequestPicker implements HostPicker {
  readonly #parts: LeastRequestParts;
  readonly #hosts: readonly UpstreamHost[];
  /** Turns by weight; only where weights differ or hosts have not their whole weight yet. */
  readonly #turns: TurnSchedule | undefined;
  /** By position: a host's own weight is several steps away. */
  readonly #weights: Float64Array;
  /**
   * How many requests hosts have open, by position as well: to look at most hosts is to touch no
   * host.
   */
  readonly #active: ActiveRequests;
  readonly #slots: Uint32Array;
  readonly #isEven: boolean;
  readonly #slowUntilMs: number;

  constructor(hosts: readonly UpstreamHost[], parts: LeastRequestParts) {
    this.#parts = parts;
    this.#hosts = hosts;
    const first = hosts[0]?.weight;
    this.#isEven = hosts.every((host) => host.weight === first);
    this.#active = hosts[0]?.active ?? new ActiveRequests();
    this.#slots = Uint32Array.from(hosts, ({ activeSlot }) => activeSlot);
    this.#slowUntilMs = parts.slowStart?.endMs(hosts) ?? 0;
    this.#weights = Float64Array.from(this.#isPlain() ? [] : hosts, ({ weight }) => weight);
    this.#turns = this.#isPlain()
      ? undefined
      : new TurnSchedule(hosts.map(({ weight }) => 1 / weight));
  }

  pick(): UpstreamHost | undefined {
    const turns = this.#turns;
    return turns === undefined || this.#isPlain() ? this.#pickOfFew() : this.#pickByTurn(turns);
  }

  #isPlain(): boolean {
    return this.#isEven && (this.#parts.slowStart?.isOver(this.#slowUntilMs) ?? true);
  }

  #pickOfFew(): UpstreamHost | undefined {
    const { options, random } = this.#parts;
    if (options.scansAll === true) return this.#leastOfAll();
    const count = this.#hosts.length;
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let draw = 0; draw < options.choiceCount; draw++) {
      const at = Math.floor(random() * count);
      const active = this.#activeAt(at);
      if (active >= least) continue;
      best = at;
      least = active;
    }
    return this.#hosts[best];
  }

  /** Among equals each is as likely. */
  #leastOfAll(): UpstreamHost | undefined {
    const { random } = this.#parts;
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    let equals = 0;
    for (let at = 0; at < this.#slots.length; at++) {
      const active = this.#activeAt(at);
      equals = active < least ? 1 : equals + 1;
      if (active > least || (active === least && random() * equals >= 1)) continue;
      best = at;
      least = active;
    }
    return this.#hosts[best];
  }

  #pickByTurn(turns: TurnSchedule): UpstreamHost | undefined {
    const { options, slowStart } = this.#parts;
    const at = turns.first;
    const host = this.#hosts[at];
    if (host === undefined) return undefined;
    const bias = options.activeRequestBias;
    const open = this.#activeAt(at) + 1;
    const busy = bias === 1 ? open : open ** bias;
    turns.delayFirst(busy / ((this.#weights[at] ?? 1) * (slowStart?.factorOf(host) ?? 1)));
    return host;
  }

  #activeAt(position: number): number {
    return this.#active.of(this.#slots[position] ?? 0);
  }
}
