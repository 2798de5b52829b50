/**
 * Hosts of a cluster that forwards to the names that requests carry: found by name, asked of the
 * supervisor where there is none yet. Every request that waits hears once. Where each name is a
 * cluster of its own, that one chooses.
 */
import { parseAuthority, printAuthority } from '../../../shared/addresses/authority.ts';
import type { ForwardProxyOptions } from '../../../shared/resources/clusters/provided-policy.ts';
import type { HostAnswer } from '../../../shared/resources/clusters/cluster.ts';
import { subClusterName } from '../../../shared/resources/clusters/sub-cluster.ts';
import { dynamicHost, dynamicPort, type FilterState } from './dynamic-host.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { BalanceContext } from '../balancing/load-balancer.ts';

export interface WantedHostsParts {
  readonly options: ForwardProxyOptions;
  readonly nowMs: () => number;
  /** Asks for a host that is not there; the ticket is unique over all workers. */
  want(host: string, ticket: number): void;
  readonly workerIndex: number;
  /** The host of this name is in use. */
  used(host: string): void;
  /** Where each name is a cluster: the one of this name, if it is there. */
  findCluster(name: string): NamedCluster | undefined;
}

interface NamedCluster {
  chooseHost(context: BalanceContext): UpstreamHost | undefined;
}

export interface HostWaiter {
  onHostAnswer(answer: HostAnswer): void;
}

/** More than a worker gives out in its life. */
const TICKETS_PER_WORKER = 2 ** 40;
/** The cluster ended meanwhile. */
const GONE = { outcome: 'failed', details: '', ticket: 0 } as const;

export class WantedHosts {
  readonly #parts: WantedHostsParts;
  #byName = new Map<string, UpstreamHost>();
  /** By host or cluster. */
  readonly #sentMs = new WeakMap<object, number>();
  /** By name and ticket. */
  readonly #waiting = new Map<string, Map<number, HostWaiter>>();
  #lastTicket: number;

  constructor(parts: WantedHostsParts) {
    this.#parts = parts;
    this.#lastTicket = parts.workerIndex * TICKETS_PER_WORKER;
  }

  /**
   * `name:port` for the authority of a request; one without a port has the given one or the usual.
   */
  nameOf(authority: string, port = this.#parts.options.defaultPort): string {
    return printAuthority(parseAuthority(authority, port));
  }

  /** The name that a choice of a host goes by. */
  nameFor(authority: string, filterState: FilterState): string {
    return this.nameOf(dynamicHost(filterState) ?? authority, dynamicPort(filterState));
  }

  get hasSubClusters(): boolean {
    return this.#parts.options.hasSubClusters === true;
  }

  has(name: string): boolean {
    return this.hasSubClusters ? this.#clusterOf(name) !== undefined : this.#byName.has(name);
  }

  /** A host for a request with this name, which counts as the name's use. */
  choose(name: string, context: BalanceContext): UpstreamHost | undefined {
    if (this.hasSubClusters) {
      const cluster = this.#clusterOf(name);
      if (cluster !== undefined) this.#touch(name, cluster);
      return cluster?.chooseHost(context);
    }
    const host = this.#byName.get(name);
    if (host !== undefined) this.#touch(name, host);
    return host;
  }

  /** Waits for the supervisor to have looked the name up; returns the ticket to leave with. */
  wait(name: string, waiter: HostWaiter): number {
    const ticket = ++this.#lastTicket;
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) this.#waiting.set(name, new Map([[ticket, waiter]]));
    else waiting.set(ticket, waiter);
    this.#parts.want(name, ticket);
    return ticket;
  }

  leave(name: string, ticket: number): void {
    const waiting = this.#waiting.get(name);
    waiting?.delete(ticket);
    if (waiting?.size === 0) this.#waiting.delete(name);
  }

  putHosts(hosts: readonly UpstreamHost[]): void {
    this.#byName = new Map(hosts.map((host) => [host.id, host]));
  }

  answered(answers: readonly HostAnswer[]): void {
    for (const answer of answers) {
      const { host, ticket, outcome } = answer;
      const waiting = this.#waiting.get(host);
      if (waiting === undefined) continue;
      if (outcome === 'found' || outcome === 'failed') {
        this.#waiting.delete(host);
        for (const waiter of waiting.values()) waiter.onHostAnswer(answer);
      } else {
        const waiter = waiting.get(ticket);
        this.leave(host, ticket);
        waiter?.onHostAnswer(answer);
      }
    }
  }

  /** The cluster is gone. */
  end(): void {
    this.answered([...this.#waiting.keys()].map((host) => ({ host, ...GONE })));
  }

  #clusterOf(name: string): NamedCluster | undefined {
    return this.#parts.findCluster(subClusterName(name));
  }

  #touch(name: string, used: object): void {
    const now = this.#parts.nowMs();
    const sentMs = this.#sentMs.get(used) ?? Number.NEGATIVE_INFINITY;
    if (now - sentMs < this.#parts.options.touchIntervalMs) return;
    this.#sentMs.set(used, now);
    this.#parts.used(name);
  }
}
