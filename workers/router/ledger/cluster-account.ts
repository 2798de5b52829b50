/** What the router adds to the figures of a cluster and its hosts. */
import { CLUSTER, HOST } from '../../../shared/stats/templates/cluster.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import { readLoadReport } from '../../upstream/load-reports/load-report.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import { httpStatusOfGrpc } from '../retry/grpc-outcome.ts';

const { index } = CLUSTER;
const DEGRADED = 'x-envoy-degraded';

export function countRedirect(cluster: UpstreamCluster, isFollowed: boolean): void {
  count(
    cluster,
    isFollowed
      ? index.upstream_internal_redirect_succeeded_total
      : index.upstream_internal_redirect_failed_total,
  );
}

/** A stream was older than the cluster allows. */
export function countOutlived(cluster: UpstreamCluster): void {
  count(cluster, index.upstream_rq_max_duration_reached);
}

/** A try without an answer; the status is what this side says for it. */
export function countFailure(cluster: UpstreamCluster, host: UpstreamHost, status: number): void {
  countHost(cluster, host, 'rq_error');
  host.outlier?.note(-status);
}

/** What a response says of its host: whether it is well, or degraded by its own word. */
export function noteAnswer({ outlier }: UpstreamHost, headers: HeaderMap): void {
  if (outlier === undefined) return;
  const status = httpStatusOfGrpc(headers) ?? headers.status;
  outlier.note(status);
  if (status < 500 && headers.has(DEGRADED)) outlier.degraded();
}

/** What a response says of its host's load, where the balancer wants to know. */
export function noteLoad(cluster: UpstreamCluster, host: UpstreamHost, headers: HeaderMap): void {
  const { reportedLoad, reportedUse } = host;
  if (reportedLoad === undefined && reportedUse === undefined) return;
  const report = readLoadReport(headers);
  if (report === undefined) return;
  if (reportedLoad !== undefined) {
    reportedLoad.note(report, cluster.loop.clock.ms);
    (host.home ?? cluster).loadNoted(host);
  }
  reportedUse?.note(report, cluster.loop.clock.ms);
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
