/** What the router adds to the figures of a cluster and its hosts. */
import { CLUSTER, HOST } from '../../shared/stats/templates/cluster.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/host.ts';
import type { TryTimeout } from './upstream-request.ts';

const { index } = CLUSTER;

/** The request's body waits for the upstream, or goes on. */
export function countBackedUp(cluster: UpstreamCluster | undefined, paused: boolean): void {
  count(
    cluster,
    paused
      ? index.upstream_flow_control_backed_up_total
      : index.upstream_flow_control_drained_total,
  );
}

/** The response waits for the client, or goes on. */
export function countPausedReading(cluster: UpstreamCluster, paused: boolean): void {
  count(
    cluster,
    paused
      ? index.upstream_flow_control_paused_reading_total
      : index.upstream_flow_control_resumed_reading_total,
  );
}

export function countTryTimeout(cluster: UpstreamCluster, kind: TryTimeout): void {
  count(
    cluster,
    kind === 'whole' ? index.upstream_rq_per_try_timeout : index.upstream_rq_per_try_idle_timeout,
  );
}

export function countTimeout(cluster: UpstreamCluster): void {
  count(cluster, index.upstream_rq_timeout);
}

export function countNoneHealthy(cluster: UpstreamCluster): void {
  count(cluster, index.upstream_cx_none_healthy);
}

/** A body was too long to be kept for further tries. */
export function countRetryAbandoned(cluster: UpstreamCluster): void {
  count(cluster, index.retry_or_shadow_abandoned);
}

export function countRedirect(cluster: UpstreamCluster, isFollowed: boolean): void {
  count(
    cluster,
    isFollowed
      ? index.upstream_internal_redirect_succeeded_total
      : index.upstream_internal_redirect_failed_total,
  );
}

/** What came of a try; negative: this side's status for want of an answer. */
export function countAnswer(cluster: UpstreamCluster, host: UpstreamHost, status: number): void {
  countHost(cluster, host, Math.abs(status) >= 500 ? 'rq_error' : 'rq_success');
  host.outlier?.note(status);
}

export function countHost(
  cluster: UpstreamCluster,
  host: UpstreamHost,
  what: 'rq_error' | 'rq_success' | 'rq_timeout',
): void {
  cluster.stats.writer.increment(host.statBase + HOST.index[what]);
}

function count(cluster: UpstreamCluster | undefined, offset: number): void {
  cluster?.stats.writer.increment(cluster.stats.base + offset);
}
