/**
 * One cluster with the hosts that it has now: takes host sets from its source, keeps what stays, and
 * knows when the cluster may be used for the first time. It sends nothing: its owner hears of changes.
 */
import type { ClusterHostsResource, HostResource } from '../../shared/resources/cluster.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { ResolvedCluster } from '../resources/resolved-bootstrap.ts';
import type { HostSink, HostSource, UpdateCounter } from './host-source.ts';
import { MembershipStats } from './membership-stats.ts';

export interface LiveClusterOptions {
  readonly resolved: ResolvedCluster;
  readonly writer: StatWriter;
  /** Undefined: the hosts are those of the configuration. */
  makeSource(sink: HostSink): HostSource | undefined;
  /** The hosts are others than before, or something about them is. */
  changed(cluster: LiveCluster): void;
}

export class LiveCluster implements HostSink {
  readonly resolved: ResolvedCluster;
  /** Resolves when the first hosts are there, or when it is known that there are none. */
  readonly ready: Promise<void>;
  readonly #stats: MembershipStats;
  readonly #source: HostSource | undefined;
  readonly #options: LiveClusterOptions;
  #resolveReady: (() => void) | undefined;
  #isReady = false;
  #hosts: readonly HostResource[] = [];

  constructor(options: LiveClusterOptions) {
    this.resolved = options.resolved;
    this.#options = options;
    this.#stats = new MembershipStats(options.resolved.resource, options.writer);
    this.ready = new Promise((resolve) => {
      this.#resolveReady = resolve;
    });
    this.#source = options.makeSource(this);
    if (this.#source === undefined) {
      if (options.resolved.hosts.hosts.length > 0) this.setHosts(options.resolved.hosts.hosts);
      this.initialized();
    } else {
      this.#source.start();
    }
  }

  get name(): string {
    return this.resolved.resource.name;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** As workers get them and as `/clusters` shows them. */
  get hosts(): ClusterHostsResource {
    return { ...this.resolved.hosts, hosts: this.#hosts };
  }

  setHosts(hosts: readonly HostResource[]): void {
    const known = new Set(this.#hosts.map(({ id }) => id));
    const unique = new Map<string, HostResource>();
    for (const host of hosts) if (!unique.has(host.id)) unique.set(host.id, host);
    const byPriority = [...unique.values()].sort((left, right) => left.priority - right.priority);
    const added = byPriority.filter(({ id }) => !known.has(id)).length;
    const isOther = added > 0 || known.size !== byPriority.length;
    this.#hosts = byPriority;
    this.#stats.setHosts(byPriority);
    if (isOther) this.#stats.membershipChanged(added);
    this.#options.changed(this);
  }

  count(counter: UpdateCounter): void {
    this.#stats.count(counter);
  }

  setMaxHostWeight(weight: number): void {
    this.#stats.setMaxHostWeight(weight);
  }

  initialized(): void {
    this.#isReady = true;
    this.#resolveReady?.();
  }

  /** The cluster is gone; whoever waits for it need not any more. */
  close(): void {
    this.#source?.close();
    this.#stats.release();
    this.initialized();
  }
}
