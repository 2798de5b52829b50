/**
 * The part of `cluster.<name>.` that the supervisor knows best: how many hosts a cluster has, how
 * many of them are healthy, and how its host set came about. Traffic is counted by the workers into
 * the same blocks.
 */
import type { Steps } from '../../loop/loop-turns.ts';
import { findPolicy } from '../../../shared/resources/clusters/lb-policy.ts';
import type { ClusterResource, HostResource } from '../../../shared/resources/clusters/cluster.ts';
import { NO_MATCH, socketOf } from '../../../shared/resources/clusters/socket-match.ts';
import { isCounted } from '../../../shared/resources/clusters/host-health.ts';
import {
  REQUEST_RESPONSE_SIZES,
  SUBSETS,
  TIMEOUT_BUDGETS,
} from '../../../shared/stats/templates/cluster-features.ts';
import { CLUSTER, TRANSPORT_SOCKET_MATCH } from '../../../shared/stats/templates/cluster.ts';
import { TLS, TLS_SOCKET_FACTORY } from '../../../shared/stats/templates/tls.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { secretKeysOf } from '../../../shared/tls/complete-tls.ts';
import type { UpdateCounter } from '../sources/host-source.ts';

/** Of a set. */
export interface HostCounts {
  total: number;
  healthy: number;
  degraded: number;
  unhealthy: number;
  excluded: number;
}

export function noHosts(): HostCounts {
  return { total: 0, healthy: 0, degraded: 0, unhealthy: 0, excluded: 0 };
}

export function noteHost(counts: HostCounts, host: HostResource, change: 1 | -1): void {
  counts.total += change;
  counts[host.health] += change;
  if (!isCounted(host)) counts.excluded += change;
}

/** Hosts whose sockets are chosen in one step. */
const HOSTS_PER_STEP = 128;

export class MembershipStats {
  readonly #writer: StatWriter;
  readonly #cluster: number;
  readonly #resource: ClusterResource;
  readonly #features: readonly number[];
  /** By name of the match. */
  readonly #matches = new Map<string, number>();
  #isReleased = false;
  #counts = noHosts();
  /** As shown. */
  #excluded = 0;

  constructor(resource: ClusterResource, writer: StatWriter) {
    const prefix = `cluster.${resource.statName}.`;
    this.#resource = resource;
    this.#writer = writer;
    this.#cluster = writer.defineBlock(CLUSTER, prefix);
    for (const name of [NO_MATCH, ...(resource.socketMatches ?? []).map((match) => match.name)]) {
      if (this.#matches.has(name)) continue;
      const base = writer.defineBlock(TRANSPORT_SOCKET_MATCH, `${prefix}${name}.`);
      this.#matches.set(name, base);
    }
    this.#features = defineFeatures(resource, writer, prefix);
    this.setWarming(true);
    this.setHosts(noHosts());
  }

  /**
   * Whether the first hosts and what else the cluster needs are waited for; health checks are not.
   */
  setWarming(isWarming: boolean): void {
    // What a cluster needs may come when the cluster is gone.
    if (this.#isReleased) return;
    this.#set(CLUSTER.index.warming_state, isWarming ? 1 : 0);
  }

  /** The hosts as they are now. Those left out are counted only with a set that is another. */
  setHosts(counts: HostCounts, isOther = true): void {
    this.#counts = counts;
    if (isOther) this.#excluded = this.#counts.excluded;
    this.show();
  }

  /** One host is known otherwise than before. */
  replaceHost(before: HostResource, after: HostResource): void {
    noteHost(this.#counts, before, -1);
    noteHost(this.#counts, after, 1);
    this.#excluded = this.#counts.excluded;
    this.show();
  }

  /** Hosts came or went, in this number of priorities. */
  *membershipChanged(added: readonly HostResource[], priorities: number): Steps<void> {
    this.#writer.add(this.#cluster + CLUSTER.index.membership_change, priorities);
    yield* this.matched(added);
  }

  /** Sockets were chosen for these hosts, which may be there already. */
  *matched(hosts: readonly HostResource[]): Steps<void> {
    const { index } = TRANSPORT_SOCKET_MATCH;
    if (this.#resource.socketMatches === undefined) {
      const base = this.#matches.get(NO_MATCH);
      if (base !== undefined) this.#writer.add(base + index.total_match_count, hosts.length);
      return;
    }
    for (const [at, host] of hosts.entries()) {
      if ((at + 1) % HOSTS_PER_STEP === 0) yield;
      const base = this.#matches.get(socketOf(this.#resource, host).name);
      if (base !== undefined) this.#writer.increment(base + index.total_match_count);
    }
  }

  count(counter: UpdateCounter): void {
    this.#writer.increment(this.#cluster + CLUSTER.index[counter]);
  }

  setMaxHostWeight(weight: number): void {
    this.#set(CLUSTER.index.max_host_weight, weight);
  }

  release(): void {
    this.#isReleased = true;
    this.#writer.releaseBlock(this.#cluster);
    for (const base of [...this.#matches.values(), ...this.#features]) {
      this.#writer.releaseBlock(base);
    }
  }

  /** Another version of the cluster may have shown its own. */
  show(): void {
    const { index } = CLUSTER;
    this.#set(index.membership_total, this.#counts.total);
    this.#set(index.membership_healthy, this.#counts.healthy);
    this.#set(index.membership_degraded, this.#counts.degraded);
    this.#set(index.membership_excluded, this.#excluded);
  }

  #set(offset: number, value: number): void {
    this.#writer.setGauge(this.#cluster + offset, value);
  }
}

/** What exists from the beginning, although workers count there from the first use on. */
function defineFeatures(
  { tls, socketMatches = [], lbPolicy, trackClusterStats }: ClusterResource,
  writer: StatWriter,
  prefix: string,
): readonly number[] {
  const blocks: number[] = [];
  const contexts = [tls, ...socketMatches.map((match) => match.tls)].filter(
    (context) => context !== undefined,
  );
  // Those that wait for secrets have none before these are there.
  if (contexts.some((context) => secretKeysOf(context).length === 0)) {
    blocks.push(writer.defineBlock(TLS, `${prefix}ssl.`));
  }
  if (contexts.length > 0) {
    blocks.push(writer.defineBlock(TLS_SOCKET_FACTORY, `${prefix}client_ssl_socket_factory.`));
  }
  const { timeoutBudgets, requestResponseSizes } = trackClusterStats;
  if (findPolicy(lbPolicy, 'subset') !== undefined)
    blocks.push(writer.defineBlock(SUBSETS, prefix));
  if (timeoutBudgets) blocks.push(writer.defineBlock(TIMEOUT_BUDGETS, prefix));
  if (requestResponseSizes) blocks.push(writer.defineBlock(REQUEST_RESPONSE_SIZES, prefix));
  return blocks;
}
