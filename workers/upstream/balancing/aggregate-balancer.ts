/**
 * Chooses among several clusters as if their priorities stood one behind the other: a later one
 * takes what the earlier ones cannot. The chosen cluster's own balancer picks the host.
 */
import { finish, type Steps } from '../../loop/sliced-work.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import { type BalanceContext, type LoadBalancer, nothingToPrepare } from './load-balancer.ts';
import {
  choosePriority,
  computeLoads,
  groupByPriority,
  type PriorityHosts,
  type PriorityLoads,
} from './priority-loads.ts';

/** A cluster as one of several. */
export interface MemberCluster {
  readonly hosts: readonly UpstreamHost[];
  /** Another number after each change of the hosts or their health. */
  readonly version: number;
  readonly overprovisioningFactor: number;
  chooseHost(context: BalanceContext): UpstreamHost | undefined;
}

export interface AggregateParts {
  /** In this order. */
  readonly clusters: readonly string[];
  /** Undefined: it is not there, and counts as none. */
  find(name: string): MemberCluster | undefined;
  /** In percent. */
  readonly panicThreshold: number;
  /** Numbers from 0, below 1. */
  readonly random: () => number;
}

interface Place {
  readonly cluster: MemberCluster;
  readonly priority: number;
}

const NO_LOADS: PriorityLoads = { healthy: [], degraded: [], panics: [] };

export class AggregateBalancer implements LoadBalancer {
  readonly #parts: AggregateParts;
  #members: readonly (MemberCluster | undefined)[] = [];
  #versions: readonly (number | undefined)[] = [];
  #places: readonly Place[] = [];
  #loads = NO_LOADS;
  /** The member says so itself. */
  readonly isPanicking = false;

  constructor(parts: AggregateParts) {
    this.#parts = parts;
  }

  choose(context: BalanceContext): UpstreamHost | undefined {
    this.#follow();
    const point = Math.floor(this.#parts.random() * 100);
    const chosen = choosePriority(this.#loads, point);
    const place = this.#places[chosen.priority];
    if (place === undefined) return undefined;
    const { cluster, priority } = place;
    return cluster.chooseHost(withPriority(context, { ...chosen, priority }));
  }

  /** The hosts are those of the members, which are looked at with each choice. */
  prepare(): Steps<() => void> {
    return nothingToPrepare();
  }

  #follow(): void {
    const { clusters, panicThreshold } = this.#parts;
    const members = clusters.map((name) => this.#parts.find(name));
    const isSame =
      this.#members.length === members.length &&
      members.every(
        (member, at) => member === this.#members[at] && member?.version === this.#versions[at],
      );
    if (isSame) return;
    this.#members = members;
    this.#versions = members.map((member) => member?.version);
    const groups: PriorityHosts[] = [];
    const places: Place[] = [];
    for (const cluster of members) {
      if (cluster === undefined) continue;
      for (const [priority, group] of finish(groupByPriority(cluster.hosts)).entries()) {
        groups.push(group);
        places.push({ cluster, priority });
      }
    }
    this.#places = places;
    const overprovisioningFactor = members.find(Boolean)?.overprovisioningFactor ?? 140;
    this.#loads = computeLoads(groups, { panicThreshold, overprovisioningFactor });
  }
}

function withPriority(
  context: BalanceContext,
  priority: NonNullable<BalanceContext['priority']>,
): BalanceContext {
  return {
    requestHeaders: context.requestHeaders,
    subset: context.subset,
    originalDestination: context.originalDestination,
    serverName: context.serverName,
    filterState: (key) => context.filterState?.(key),
    dynamicMetadata: context.dynamicMetadata,
    addMetadata: (namespace, value) => context.addMetadata?.(namespace, value),
    computeHash: (own) => context.computeHash(own),
    maxHostDraws: 0,
    refusesHost: () => false,
    priority,
  };
}
