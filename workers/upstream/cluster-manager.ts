/** The clusters of this worker by name. Knows no routes; an unknown name is the caller's answer. */
import type {
  ClusterHostsResource,
  ClusterResource,
} from '../../shared/resources/clusters/cluster.ts';
import { isAlikes, isKept } from '../../shared/resources/clusters/host-entries.ts';
import type { ResourceUpdate, SentHostSet } from '../../shared/resources/resource-update.ts';
import type { ClusterContext } from './cluster-context.ts';
import { UpstreamCluster } from './cluster.ts';
import { type HealthChange, LARGE_SET } from './hosts/host-set.ts';
import { LazyClusters } from './lazy-clusters.ts';
import { LazyTables } from './hashing/lazy-tables.ts';

type ClusterUpdate = Extract<
  ResourceUpdate,
  {
    readonly op:
      | `${'put' | 'promote' | 'remove'}_cluster`
      | 'put_idle_clusters'
      | 'put_hosts'
      | 'put_host_health';
  }
>;

type LazyUpdate = Extract<ClusterUpdate, { readonly op: 'put_idle_clusters' }>;

export function isClusterUpdate(update: ResourceUpdate): update is ClusterUpdate {
  return /_(cluster|idle_clusters|hosts|host_health)$/.test(update.op);
}

/** Where there are no more, they are made at once: no first request waits for that. */
const FEW_CLUSTERS = 8;

export class ClusterManager {
  readonly #context: ClusterContext;
  readonly #clusters = new Map<string, UpstreamCluster>();
  /** Versions beside those in use: only checked. */
  readonly #warming = new Map<string, UpstreamCluster>();
  /** Versions that get ready to take the place of those in use. */
  readonly #coming = new Set<UpstreamCluster>();
  readonly #idle = new LazyClusters();
  /** The tables of those that idle. */
  readonly #tables: LazyTables;

  constructor(context: ClusterContext) {
    this.#context = context;
    const tells = context.duty.workerIndex === 0;
    this.#tables = new LazyTables({ writer: context.stats, tells });
  }

  get(name: string): UpstreamCluster | undefined {
    return this.#clusters.get(name) ?? this.#wake(name);
  }

  /** Returns what to wait for before it is in force. */
  apply(update: ClusterUpdate): Promise<void> | void {
    switch (update.op) {
      case 'put_cluster':
        return this.putCluster(update.cluster, update.isWarming);
      case 'promote_cluster':
        return this.#promote(update.name);
      case 'put_idle_clusters':
        return this.#putLazy(update);
      case 'remove_cluster':
        return this.#removeCluster(update.name, update.isWarming);
      case 'put_hosts':
        return this.putHosts(update.hosts, update.isWarming);
      case 'put_host_health':
        return this.#putHealth(update.cluster, update.bits, update.isWarming);
    }
  }

  /**
   * They become clusters when somebody asks for them. Replaces what was there under their names.
   */
  #putLazy({ names, packed, tables }: LazyUpdate): void {
    for (const name of names) this.#removeCluster(name);
    this.#idle.put(names, packed);
    if (tables !== undefined) return this.#tables.put(tables);
    if (this.#idle.size + this.#clusters.size > FEW_CLUSTERS) return;
    for (const name of names) this.#wake(name);
  }

  /** A version with many hosts takes its place when it has them: what to wait for is returned. */
  putCluster(resource: ClusterResource, isWarming = false): Promise<void> | void {
    if (isWarming) {
      this.#removeCluster(resource.name, true);
      this.#warming.set(resource.name, new UpstreamCluster(resource, this.#context));
      return;
    }
    const earlier = this.get(resource.name);
    const cluster = new UpstreamCluster(resource, this.#context);
    const adopted = earlier && cluster.adoptHostsOf(earlier);
    if (adopted === undefined) return this.#replace(earlier, cluster);
    this.#coming.add(cluster);
    return adopted.then(() => this.#replace(earlier, cluster));
  }

  #replace(earlier: UpstreamCluster | undefined, cluster: UpstreamCluster): void {
    this.#coming.delete(cluster);
    this.#clusters.set(cluster.name, cluster);
    earlier?.drain();
  }

  /** What warms takes the place of what is in use, with its hosts and their checks. */
  #promote(name: string): void {
    const warmed = this.#warming.get(name);
    if (warmed === undefined) return;
    this.#warming.delete(name);
    this.#removeCluster(name);
    this.#clusters.set(name, warmed);
  }

  #removeCluster(name: string, isWarming = false): void {
    if (isWarming) {
      this.#warming.get(name)?.drain();
      this.#warming.delete(name);
      return;
    }
    const cluster = this.#clusters.get(name);
    this.#clusters.delete(name);
    this.#idle.forget(name);
    this.#tables.forget(name);
    cluster?.drain();
  }

  /**
   * Hosts of a cluster that is not there are ignored: it was removed in the same moment. Returns
   * what to wait for before the cluster has its first hosts.
   */
  putHosts(update: SentHostSet, isWarming = false): Promise<void> | undefined {
    if (isWarming) {
      this.#warming.get(update.cluster)?.putHosts(update);
      return undefined;
    }
    // Many hosts are not for the first request to wait for.
    const idles = isSmall(update) && !this.#tables.has(update.cluster);
    if (idles && this.#idle.putHosts(update)) return undefined;
    const cluster = this.get(update.cluster);
    cluster?.putHosts(update);
    return cluster?.firstHosts;
  }

  #putHealth(name: string, bits: readonly HealthChange[], isWarming = false): void {
    const cluster = isWarming ? this.#warming.get(name) : this.get(name);
    cluster?.putHealth(bits);
  }

  /** These workers share the active checks from now on. */
  setCheckingWorkers(workers: readonly number[]): void {
    this.#context.duty.living = workers;
    for (const cluster of this.#all()) cluster.shareChecks();
  }

  close(): void {
    for (const cluster of this.#all()) cluster.close();
  }

  *#all(): Generator<UpstreamCluster> {
    yield* this.#clusters.values();
    yield* this.#warming.values();
    yield* this.#coming;
  }

  #wake(name: string): UpstreamCluster | undefined {
    const idle = this.#idle.take(name);
    if (idle === undefined) return undefined;
    const cluster = new UpstreamCluster(idle.cluster, this.#context);
    this.#clusters.set(name, cluster);
    cluster.putHostsNow(idle.hosts);
    this.#tables.forget(name);
    return cluster;
  }
}

/** Such sets are sent host by host. */
function isSmall(update: SentHostSet): update is ClusterHostsResource {
  if (update.hosts.length > LARGE_SET) return false;
  return !update.hosts.some((entry) => isKept(entry) || isAlikes(entry));
}
