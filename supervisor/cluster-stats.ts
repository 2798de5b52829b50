/**
 * The part of `cluster.<name>.` that the supervisor knows best: how many hosts a cluster has and how
 * many of them are healthy. Traffic is counted by the workers into the same blocks.
 */
import type { ClusterHostsResource, ClusterResource } from '../shared/resources/cluster.ts';
import { CLUSTER, TRANSPORT_SOCKET_MATCH } from '../shared/stats/templates/cluster.ts';
import type { StatWriter } from '../shared/stats/stat-writer.ts';

/** The transport socket of a cluster without matches. */
const ONLY_MATCH = 'default.';

export class ClusterStats {
  readonly #writer: StatWriter;
  readonly #blocks = new Map<string, { readonly cluster: number; readonly match: number }>();

  constructor(writer: StatWriter) {
    this.#writer = writer;
  }

  putAll(
    clusters: readonly {
      readonly resource: ClusterResource;
      readonly hosts: ClusterHostsResource;
    }[],
  ): void {
    for (const { resource, hosts } of clusters) this.hostsChanged(resource, hosts);
  }

  /** The cluster has these hosts from now on. */
  hostsChanged({ name, statName }: ClusterResource, { hosts }: ClusterHostsResource): void {
    const writer = this.#writer;
    let blocks = this.#blocks.get(name);
    if (blocks === undefined) {
      const prefix = `cluster.${statName}.`;
      blocks = {
        cluster: writer.defineBlock(CLUSTER, prefix),
        match: writer.defineBlock(TRANSPORT_SOCKET_MATCH, prefix + ONLY_MATCH),
      };
      this.#blocks.set(name, blocks);
    }
    const { index } = CLUSTER;
    const count = (health: string): number => hosts.filter((host) => host.health === health).length;
    writer.setGauge(blocks.cluster + index.membership_total, hosts.length);
    writer.setGauge(blocks.cluster + index.membership_healthy, count('healthy'));
    writer.setGauge(blocks.cluster + index.membership_degraded, count('degraded'));
    writer.setGauge(blocks.cluster + index.membership_excluded, 0);
    writer.setGauge(blocks.cluster + index.warming_state, 0);
    if (hosts.length === 0) return;
    writer.increment(blocks.cluster + index.membership_change);
    writer.add(blocks.match + TRANSPORT_SOCKET_MATCH.index.total_match_count, hosts.length);
  }

  /** The cluster is gone. */
  removed(name: string): void {
    const blocks = this.#blocks.get(name);
    if (blocks === undefined) return;
    this.#blocks.delete(name);
    this.#writer.releaseBlock(blocks.cluster);
    this.#writer.releaseBlock(blocks.match);
  }
}
