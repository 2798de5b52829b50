/** The clusters of this worker by name. Knows no routes; an unknown name is the caller's answer. */
import type { ClusterHostsResource, ClusterResource } from '../../shared/resources/cluster.ts';
import type { SentHostSet } from '../../shared/resources/resource-update.ts';
import type { ClusterContext } from './cluster-context.ts';
import { UpstreamCluster } from './cluster.ts';
import { type HealthChange, LARGE_SET } from './host-set.ts';
import { IdleClusters } from './idle-clusters.ts';

export class ClusterManager {
  readonly #context: ClusterContext;
  readonly #clusters = new Map<string, UpstreamCluster>();
  readonly #idle = new IdleClusters();

  constructor(context: ClusterContext) {
    this.#context = context;
  }

  get(name: string): UpstreamCluster | undefined {
    return this.#clusters.get(name) ?? this.#wake(name);
  }

  /** They become clusters when somebody asks for them. Replaces what was there under their names. */
  putIdle(names: readonly string[], packed: Uint8Array): void {
    for (const name of names) this.removeCluster(name);
    this.#idle.put(names, packed);
  }

  putCluster(resource: ClusterResource): void {
    const earlier = this.get(resource.name);
    const cluster = new UpstreamCluster(resource, this.#context);
    this.#clusters.set(resource.name, cluster);
    if (earlier !== undefined) cluster.adoptHostsOf(earlier);
  }

  removeCluster(name: string): void {
    const cluster = this.#clusters.get(name);
    this.#clusters.delete(name);
    this.#idle.forget(name);
    cluster?.drain();
  }

  /**
   * Hosts of a cluster that is not there are ignored: it was removed in the same moment. Returns what
   * to wait for before the cluster has its first hosts.
   */
  putHosts(update: SentHostSet): Promise<void> | undefined {
    // Many hosts are not for the first request to wait for.
    if (isSmall(update) && this.#idle.putHosts(update)) return undefined;
    const cluster = this.get(update.cluster);
    cluster?.putHosts(update);
    return cluster?.firstHosts;
  }

  putHealth(cluster: string, bits: readonly HealthChange[]): void {
    this.get(cluster)?.putHealth(bits);
  }

  /** These workers share the active checks from now on. */
  setCheckingWorkers(workers: readonly number[]): void {
    this.#context.duty.living = workers;
    for (const cluster of this.#clusters.values()) cluster.shareChecks();
  }

  close(): void {
    for (const cluster of this.#clusters.values()) cluster.close();
  }

  #wake(name: string): UpstreamCluster | undefined {
    const idle = this.#idle.take(name);
    if (idle === undefined) return undefined;
    const cluster = new UpstreamCluster(idle.cluster, this.#context);
    this.#clusters.set(name, cluster);
    cluster.putHostsNow(idle.hosts);
    return cluster;
  }
}

/** Such sets are sent whole. */
function isSmall(update: SentHostSet): update is ClusterHostsResource {
  return update.hosts.length <= LARGE_SET && update.hosts.every((host) => typeof host !== 'string');
}
