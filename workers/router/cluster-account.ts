/** What the router adds to the figures of a cluster and its hosts. */
import { CLUSTER, HOST } from '../../shared/stats/templates/cluster.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/host.ts';

const { index } = CLUSTER;

export function countRedirect(cluster: UpstreamCluster, isFollowed: boolean): void {
  count(
    cluster,
    isFollowed
      ? index.upstream_internal_redirect_succeeded_total
      : index.upstream_internal_redirect_failed_total,
  );
}

/** A try without an answer; the status is what this side says for it. */
export function countFailure(cluster: UpstreamCluster, host: UpstreamHost, status: number): void {
  countHost(cluster, host, 'rq_error');
  host.outlier?.note(-status);
}

export function countHost(
  cluster: UpstreamCluster,
  host: UpstreamHost,
  what: 'rq_error' | 'rq_success' | 'rq_timeout',
): void {
  cluster.stats.writer.increment(host.statBase + HOST.index[what]);
}

function count(cluster: UpstreamCluster, offset: number): void {
  cluster.stats.writer.increment(cluster.stats.base + offset);
}
