/**
 * The part of `cluster.<name>.` that the supervisor knows best: how many hosts a cluster has, how many
 * of them are healthy, and how its host set came about. Traffic is counted by the workers into the
 * same blocks.
 */
import type { ClusterResource, HostResource } from '../../shared/resources/cluster.ts';
import { HEALTH_BITS } from '../../shared/resources/host-health.ts';
import { CLUSTER, TRANSPORT_SOCKET_MATCH } from '../../shared/stats/templates/cluster.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { UpdateCounter } from './host-source.ts';

/** The transport socket of a cluster without matches. */
const ONLY_MATCH = 'default.';

const EXCLUDED_BITS =
  HEALTH_BITS.excluded_via_immediate_hc_fail |
  HEALTH_BITS.pending_active_hc |
  HEALTH_BITS.eds_status_draining;

export class MembershipStats {
  readonly #writer: StatWriter;
  readonly #cluster: number;
  readonly #match: number;
  #counts = { total: 0, healthy: 0, degraded: 0, unhealthy: 0, excluded: 0 };

  constructor({ statName }: ClusterResource, writer: StatWriter) {
    const prefix = `cluster.${statName}.`;
    this.#writer = writer;
    this.#cluster = writer.defineBlock(CLUSTER, prefix);
    this.#match = writer.defineBlock(TRANSPORT_SOCKET_MATCH, prefix + ONLY_MATCH);
    writer.setGauge(this.#cluster + CLUSTER.index.warming_state, 0);
    this.setHosts([]);
  }

  /** The hosts as they are now, whatever changed. */
  setHosts(hosts: readonly HostResource[]): void {
    this.#counts = { total: 0, healthy: 0, degraded: 0, unhealthy: 0, excluded: 0 };
    for (const host of hosts) this.#note(host, 1);
    this.#show();
  }

  /** One host is known otherwise than before. */
  replaceHost(before: HostResource, after: HostResource): void {
    this.#note(before, -1);
    this.#note(after, 1);
    this.#show();
  }

  /** Hosts came or went, in this number of priorities. */
  membershipChanged(added: number, priorities: number): void {
    this.#writer.add(this.#cluster + CLUSTER.index.membership_change, priorities);
    const { index } = TRANSPORT_SOCKET_MATCH;
    if (added > 0) this.#writer.add(this.#match + index.total_match_count, added);
  }

  count(counter: UpdateCounter): void {
    this.#writer.increment(this.#cluster + CLUSTER.index[counter]);
  }

  setMaxHostWeight(weight: number): void {
    this.#set(CLUSTER.index.max_host_weight, weight);
  }

  release(): void {
    this.#writer.releaseBlock(this.#cluster);
    this.#writer.releaseBlock(this.#match);
  }

  #note(host: HostResource, change: 1 | -1): void {
    this.#counts.total += change;
    this.#counts[host.health] += change;
    if (((host.healthBits ?? 0) & EXCLUDED_BITS) !== 0) this.#counts.excluded += change;
  }

  #show(): void {
    const { index } = CLUSTER;
    this.#set(index.membership_total, this.#counts.total);
    this.#set(index.membership_healthy, this.#counts.healthy);
    this.#set(index.membership_degraded, this.#counts.degraded);
    this.#set(index.membership_excluded, this.#counts.excluded);
  }

  #set(offset: number, value: number): void {
    this.#writer.setGauge(this.#cluster + offset, value);
  }
}
