/** What the router counts per response: by code and time, for the cluster and its views. */
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { VIRTUAL_CLUSTER } from '../../shared/stats/templates/cluster-features.ts';
import { ROUTER } from '../../shared/stats/templates/http-connection-manager.ts';
import type { StreamInfo } from '../http/stream-info.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import { ResponseCodeStats } from '../upstream/response-code-stats.ts';

/** Virtual clusters come from configuration, so their number is bounded by it. */
interface VirtualClusterStats {
  readonly base: number;
  readonly codes: ResponseCodeStats;
}

export class RouterStats {
  readonly writer: StatWriter;
  /** Base of the router's block. */
  readonly base: number;
  readonly #ownZone: string;
  readonly #virtual = new Map<string, VirtualClusterStats>();

  constructor(writer: StatWriter, statPrefix: string, ownZone: string) {
    this.writer = writer;
    this.base = writer.defineBlock(ROUTER, `http.${statPrefix}.`);
    this.#ownZone = ownZone;
  }

  count(offset: number): void {
    this.writer.increment(this.base + offset);
  }

  /** A response, or an answer made here for want of one. `isCanary`: the upstream said so. */
  chargeCode(cluster: UpstreamCluster, info: StreamInfo, status: number, isCanary: boolean): void {
    // Health checks through this server say nothing of its traffic.
    if (info.isHealthCheck) return;
    const { stats } = cluster;
    stats.all.charge(status);
    (info.isInternalRequest ? stats.internal : stats.external).charge(status);
    if (isCanary) stats.canary.charge(status);
    const zone = info.upstreamHost?.zone ?? '';
    if (zone !== '' && this.#ownZone !== '') stats.zone(this.#ownZone, zone).charge(status);
    if (info.virtualClusterName !== '') this.#virtualOf(info).codes.charge(status);
  }

  chargeInformational(cluster: UpstreamCluster, info: StreamInfo, status: number): void {
    const { stats } = cluster;
    stats.all.chargeInformational(status);
    (info.isInternalRequest ? stats.internal : stats.external).chargeInformational(status);
  }

  /** How long a complete response took, in milliseconds. */
  chargeTime(
    cluster: UpstreamCluster,
    info: StreamInfo,
    milliseconds: number,
    isCanary: boolean,
  ): void {
    const { stats } = cluster;
    stats.all.recordTime(milliseconds);
    (info.isInternalRequest ? stats.internal : stats.external).recordTime(milliseconds);
    if (isCanary) stats.canary.recordTime(milliseconds);
    const zone = info.upstreamHost?.zone ?? '';
    if (zone !== '' && this.#ownZone !== '') {
      stats.zone(this.#ownZone, zone).recordTime(milliseconds);
    }
    if (info.virtualClusterName !== '') this.#virtualOf(info).codes.recordTime(milliseconds);
  }

  /** Counts for the request's virtual cluster, if it has one; `offset` is of VIRTUAL_CLUSTER. */
  countVirtual(info: StreamInfo, offset: number): void {
    if (info.virtualClusterName !== '') this.writer.increment(this.#virtualOf(info).base + offset);
  }

  release(): void {
    this.writer.releaseBlock(this.base);
    for (const { base } of this.#virtual.values()) this.writer.releaseBlock(base);
  }

  #virtualOf(info: StreamInfo): VirtualClusterStats {
    const prefix = `vhost.${info.virtualHostName}.vcluster.${info.virtualClusterName}.`;
    let stats = this.#virtual.get(prefix);
    if (stats === undefined) {
      stats = {
        base: this.writer.defineBlock(VIRTUAL_CLUSTER, prefix),
        codes: new ResponseCodeStats(this.writer, prefix),
      };
      this.#virtual.set(prefix, stats);
    }
    return stats;
  }
}
