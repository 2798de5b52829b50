/** Hands what workers say of a cluster to the version of it that is meant. */
import type { ClusterNotice } from '../../shared/messages/worker-notices.ts';
import type { LiveCluster } from './live-cluster.ts';
import type { HostAnswered } from './sources/host-source.ts';

export interface KnownClusters {
  readonly active: (name: string) => LiveCluster | undefined;
  readonly warming: (name: string) => LiveCluster | undefined;
  /** Its checks come at their usual interval from now on. */
  readonly trafficBegan: (cluster: LiveCluster) => void;
  readonly answered: (
    cluster: string,
    wanted: { readonly host: string; readonly ticket: number },
    answer: Parameters<HostAnswered>[0],
  ) => void;
}

type CheckKind = 'health_event' | 'health_result';

/** A cluster that is gone meanwhile needs nothing. */
export function deliverNotice(notice: ClusterNotice, clusters: KnownClusters): void {
  if (notice.kind === 'health_event') versionOf(notice, clusters)?.logCheck(notice);
  else if (notice.kind === 'health_result') {
    versionOf(notice, clusters)?.setActiveBits(notice.host, notice.bits);
  } else deliverToActive(notice, clusters);
}

function deliverToActive(
  notice: Exclude<ClusterNotice, { readonly kind: CheckKind }>,
  clusters: KnownClusters,
): void {
  const cluster = clusters.active(notice.cluster);
  if (notice.kind === 'traffic_began') {
    if (cluster?.beginTraffic() === true) clusters.trafficBegan(cluster);
  } else if (notice.kind === 'host_requested') cluster?.hostRequested(notice.host);
  else if (notice.kind === 'host_used') cluster?.hostUsed(notice.host);
  else if (notice.kind === 'host_wanted') {
    const answered: HostAnswered = (answer) => clusters.answered(notice.cluster, notice, answer);
    if (cluster === undefined) answered({ outcome: 'failed', details: '' });
    else cluster.hostWanted(notice.host, answered);
  } else if (notice.kind === 'load_reported') cluster?.loadReported(notice.weights);
  else cluster?.outlierDetected(notice.host, notice.what);
}

/** What a check found holds for the version that was checked. */
function versionOf(
  { cluster, version }: Extract<ClusterNotice, { readonly kind: CheckKind }>,
  { active, warming }: KnownClusters,
): LiveCluster | undefined {
  return [active(cluster), warming(cluster)].find((live) => live?.version === version);
}
