/**
 * The hosts of one cluster as they come and stay: says which of them are new ones, and what watches
 * their answers and hears of their loads.
 */
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import { HEALTH_BITS } from '../../../shared/resources/clusters/host-health.ts';
import { isSamePlace } from '../../../shared/resources/clusters/host-place.ts';
import { findPolicy } from '../../../shared/resources/clusters/lb-policy.ts';
import type { OutlierSign } from '../../../shared/resources/clusters/outlier-detection.ts';
import { ReportedUse } from '../balancing/load-aware-localities.ts';
import { ReportedLoad } from '../balancing/reported-weights.ts';
import type { UpstreamCluster } from '../cluster.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { ActiveRequests } from './active-requests.ts';
import { UpstreamHost } from './host.ts';
import { OutlierMonitor } from './outlier-monitor.ts';

export class HostKeeper {
  readonly #cluster: UpstreamCluster;
  readonly #context: ClusterContext;
  readonly #active = new ActiveRequests();

  constructor(cluster: UpstreamCluster, context: ClusterContext) {
    this.#cluster = cluster;
    this.#context = context;
  }

  /** `host` with what is said of it now, or a new one. */
  keepOrMake(host: UpstreamHost | undefined, resource: HostResource): UpstreamHost {
    const isOne = host !== undefined && this.#isOneHost(host.resource, resource);
    if (!isOne) {
      const made = new UpstreamHost(
        resource,
        this.#cluster.name,
        this.#cluster.stats.writer,
        this.#active,
      );
      made.home = this.#cluster;
      return made;
    }
    const isFoundBad = resource.health === 'unhealthy' && newlyFound(host.resource, resource) !== 0;
    const becameHealthy = host.health === 'unhealthy' && resource.health !== 'unhealthy';
    if (becameHealthy && host.readySinceMs !== undefined) {
      host.readySinceMs = this.#context.loop.clock.ms;
    }
    host.resource = resource;
    if (isFoundBad) {
      if (this.#cluster.resource.closeConnectionsOnHostHealthFailure) host.closeProxied();
      // New connections may take a better way to it.
      host.renewPools();
    }
    return host;
  }

  /** What answers say of its health and its load is heard from now on. */
  watch(host: UpstreamHost): void {
    this.#detect(host);
    this.#listen(host);
  }

  #detect(host: UpstreamHost): void {
    const { outlierDetection: thresholds } = this.#cluster.resource;
    const slot = host.resource.outlierSlot;
    if (thresholds === undefined || slot === undefined || host.outlier !== undefined) return;
    const { runtime } = this.#context;
    const page = this.#context.outlierPage();
    const report = (sign: OutlierSign): void => {
      const isKnown =
        sign === 'degraded' &&
        ((host.resource.healthBits ?? 0) & HEALTH_BITS.degraded_outlier_detection) !== 0;
      if (!isKnown) this.#context.outlierDetected(this.#cluster.name, host.id, sign);
    };
    host.outlier = new OutlierMonitor({ page, slot, thresholds, runtime, report });
  }

  /** To what it reports of its load, where the balancer goes by that. */
  #listen(host: UpstreamHost): void {
    const { lbPolicy } = this.#cluster.resource;
    const reports = findPolicy(lbPolicy, 'client_side_weighted_round_robin')?.loadReports;
    if (reports !== undefined) host.reportedLoad ??= new ReportedLoad(reports);
    const loads = findPolicy(lbPolicy, 'load_aware_locality')?.options;
    if (loads !== undefined) host.reportedUse ??= new ReportedUse(loads.metricNames);
  }

  /** As the supervisor says it; see live-cluster.ts. */
  #isOneHost(before: HostResource, host: HostResource): boolean {
    return (
      (this.#cluster.isChecked || before.hostname === host.hostname) && isSamePlace(before, host)
    );
  }
}

/**
 * What checks or outlier detection have just found to be wrong with a host; what a source says of
 * it is not that.
 */
function newlyFound({ healthBits: before = 0 }: HostResource, after: HostResource): number {
  const { failed_active_hc: check, failed_outlier_check: outlier } = HEALTH_BITS;
  return (after.healthBits ?? 0) & ~before & (check | outlier);
}
