/**
 * Chooses a host of a cluster for each request. The interface is what further policies implement; here
 * is the round robin over the healthy hosts of the best priority, by weight.
 */
import type { HeaderMap } from '../http/header-map.ts';
import type { UpstreamHost } from './host.ts';

/** What a choice may depend on. */
export interface BalanceContext {
  readonly requestHeaders: HeaderMap;
  /** How many further hosts may be drawn where one is refused. */
  readonly maxHostDraws: number;
  /** Whether the request would rather go to another host. */
  refusesHost(host: UpstreamHost): boolean;
}

export interface LoadBalancer {
  /**
   * The host for the next request, undefined when there is none. `draw` counts from 0 the choices
   * made for the same try: one that hashes gives another host for each.
   */
  choose(context: BalanceContext, draw: number): UpstreamHost | undefined;
  /** The host set changed, or a host's health did. */
  update(hosts: readonly UpstreamHost[]): void;
  /** True when the choices are made over all hosts, since too few are healthy. */
  readonly isPanicking: boolean;
}

interface WeightedEntry {
  readonly host: UpstreamHost;
  readonly weight: number;
  deadline: number;
}

export class RoundRobinBalancer implements LoadBalancer {
  readonly #panicThreshold: number;
  #hosts: readonly UpstreamHost[] = [];
  #next: number;
  /** A heap by deadline; only where weights differ. */
  #schedule: WeightedEntry[] = [];
  isPanicking = false;

  /**
   * `panicThreshold` is in percent. `seed` is where the round begins: a whole number that differs
   * between workers, so that they do not all begin with the same host.
   */
  constructor(panicThreshold: number, seed: number) {
    this.#panicThreshold = panicThreshold;
    this.#next = seed;
  }

  choose(): UpstreamHost | undefined {
    if (this.#schedule.length > 0) return this.#chooseWeighted();
    const count = this.#hosts.length;
    if (count === 0) return undefined;
    if (this.#next >= count) this.#next %= count;
    return this.#hosts[this.#next++];
  }

  update(hosts: readonly UpstreamHost[]): void {
    const eligible = eligibleHosts(hosts, this.#panicThreshold);
    this.#hosts = eligible.hosts;
    this.isPanicking = eligible.isPanicking;
    const first = this.#hosts[0]?.weight;
    this.#schedule = this.#hosts.every((host) => host.weight === first)
      ? []
      : this.#hosts
          .map((host) => ({ host, weight: host.weight, deadline: 1 / host.weight }))
          .sort((left, right) => left.deadline - right.deadline);
  }

  /** Earliest deadline first: each choice moves a host back by the inverse of its weight. */
  #chooseWeighted(): UpstreamHost | undefined {
    const heap = this.#schedule;
    const top = heap[0];
    if (top === undefined) return undefined;
    top.deadline += 1 / top.weight;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      let least = left;
      if (left >= heap.length) break;
      if (left + 1 < heap.length && deadlineAt(heap, left + 1) < deadlineAt(heap, left)) least++;
      if (deadlineAt(heap, least) >= top.deadline) break;
      heap[at] = heap[least] as WeightedEntry;
      at = least;
    }
    heap[at] = top;
    return top.host;
  }
}

export interface EligibleHosts {
  readonly hosts: readonly UpstreamHost[];
  readonly isPanicking: boolean;
}

/** The usable hosts of the best priority, or all of the first when too few are usable. */
export function eligibleHosts(
  hosts: readonly UpstreamHost[],
  panicThreshold: number,
): EligibleHosts {
  const priorities = [...new Set(hosts.map((host) => host.priority))].sort((a, b) => a - b);
  for (const priority of priorities) {
    const all = hosts.filter((host) => host.priority === priority);
    const healthy = all.filter((host) => host.health === 'healthy');
    const usable = healthy.length > 0 ? healthy : all.filter((host) => host.health === 'degraded');
    if (usable.length * 100 >= all.length * panicThreshold && usable.length > 0) {
      return { hosts: usable, isPanicking: false };
    }
  }
  if (hosts.length > 0 && panicThreshold > 0) {
    const first = hosts.filter((host) => host.priority === priorities[0]);
    return { hosts: first, isPanicking: true };
  }
  return { hosts: hosts.filter((host) => host.health !== 'unhealthy'), isPanicking: false };
}

function deadlineAt(heap: readonly WeightedEntry[], at: number): number {
  return heap[at]?.deadline ?? Number.POSITIVE_INFINITY;
}
