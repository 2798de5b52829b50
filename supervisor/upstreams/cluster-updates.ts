/**
 * What workers have yet to be told of clusters and their hosts: collects changes until they are
 * taken and puts them in order. Knows which versions workers check beside those in use; which
 * versions there are is its owner's matter.
 */
import type { HostAnswer, HostResource } from '../../shared/resources/clusters/cluster.ts';
import { HOSTS_PER_PART } from '../../shared/resources/clusters/host-parts.ts';
import type { ClusterWithHosts } from '../../shared/resources/clusters/lazy-clusters.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { Steps } from '../loop/loop-turns.ts';
import { LazyBatches } from '../store/lazy-batches.ts';
import type { LiveCluster } from './live-cluster.ts';
import { SentHosts } from './hosts/sent-hosts.ts';

/** More updates are applied with an answer, which holds back those that follow. */
const SHORT_UPDATES = 16;

/** `new`: workers have none of that name; `checks`: what warms beside it is another. */
export type ClusterMove = 'new' | 'changed' | 'removed' | 'checks';

export interface PresentClusters {
  /** The version of this name that requests use. */
  active(name: string): LiveCluster | undefined;
  /** The version whose hosts workers check before it is used. */
  checked(name: string): LiveCluster | undefined;
}

export class ClusterUpdates {
  readonly #present: PresentClusters;
  /** By name, what workers are to get of clusters as a whole. */
  #moves = new Map<string, ClusterMove>();
  /** Undefined: the whole host set changed; else the hosts whose health did. */
  #changed = new Map<LiveCluster, Set<string> | undefined>();
  /** By cluster, what requests in the workers wait for. */
  #answers = new Map<string, HostAnswer[]>();
  /** By name, the versions that workers have beside those in use. */
  readonly #atWorkers = new Map<string, LiveCluster>();
  readonly #sent = new SentHosts();

  constructor(present: PresentClusters) {
    this.#present = present;
  }

  move(name: string, move: ClusterMove): void {
    const before = this.#moves.get(name);
    if (move === 'checks' && before !== undefined) return;
    this.#moves.set(name, move === 'new' && before === 'removed' ? 'changed' : move);
  }

  /** Without a host the whole host set is another. */
  hostsChanged(cluster: LiveCluster, host: string | undefined): void {
    const known = this.#changed.get(cluster);
    const isWhole = host === undefined || (known === undefined && this.#changed.has(cluster));
    this.#changed.set(cluster, isWhole ? undefined : (known ?? new Set()).add(host));
  }

  /** A large set is packed before it is in force. */
  prepare(cluster: LiveCluster, hosts: readonly HostResource[]): Steps<void> {
    return this.#sent.prepare(cluster, hosts);
  }

  answered(cluster: string, answer: HostAnswer): void {
    const known = this.#answers.get(cluster);
    if (known === undefined) this.#answers.set(cluster, [answer]);
    else known.push(answer);
  }

  /** Nobody is told any more of this version's hosts. */
  forget(cluster: LiveCluster): void {
    this.#changed.delete(cluster);
  }

  /** A new worker begins with the present hosts of this version, whatever the others were sent. */
  workerStarts(cluster: LiveCluster): void {
    this.#sent.forget(cluster);
  }

  clear(): void {
    this.#changed.clear();
    this.#moves.clear();
  }

  /**
   * Clusters come with their hosts: all that an answer brought in one batch, packed where they may
   * idle.
   */
  take(): readonly ResourceUpdate[] {
    const updates: ResourceUpdate[] = [];
    const added: ClusterWithHosts[] = [];
    for (const [name, move] of this.#moves) {
      if (move !== 'checks') this.#moveActive(name, move, { updates, added });
      this.#moveChecked(name, updates);
    }
    if (added.length > 0) updates.push(...new LazyBatches().updates(added));
    for (const [cluster, hosts] of this.#changed) {
      if (!this.#moves.has(cluster.name)) updates.push(...this.#hostUpdates(cluster, hosts));
    }
    for (const [cluster, answers] of this.#answers) {
      updates.push({ op: 'put_host_answers', cluster, answers });
    }
    // A map that is cleared goes on in a new table, and old tables that nothing needs any more keep
    // each other until the next major collection, with all that was in them.
    this.#moves = new Map();
    this.#changed = new Map();
    this.#answers = new Map();
    return updates;
  }

  #moveActive(
    name: string,
    move: Exclude<ClusterMove, 'checks'>,
    { updates, added }: { readonly updates: ResourceUpdate[]; readonly added: ClusterWithHosts[] },
  ): void {
    const live = this.#present.active(name);
    if (live === undefined) {
      updates.push({ op: 'remove_cluster', name });
      return;
    }
    const { resource: cluster } = live.resolved;
    if (this.#atWorkers.get(name) === live) {
      this.#atWorkers.delete(name);
      updates.push({ op: 'promote_cluster', name }, ...this.#sent.updatesOf(live));
      return;
    }
    this.#sent.forget(live);
    if (move === 'new') added.push({ cluster, hosts: live.hosts });
    else updates.push({ op: 'put_cluster', cluster }, ...this.#sent.updatesOf(live));
  }

  #moveChecked(name: string, updates: ResourceUpdate[]): void {
    const live = this.#present.checked(name);
    const known = this.#atWorkers.get(name);
    if (live === undefined) {
      if (known !== undefined) updates.push({ op: 'remove_cluster', name, isWarming: true });
      this.#atWorkers.delete(name);
      return;
    }
    if (live === known) {
      for (const update of this.#sent.updatesOf(live)) updates.push({ ...update, isWarming: true });
    } else {
      this.#sent.forget(live);
      updates.push(...checkedUpdates(live));
    }
    this.#atWorkers.set(name, live);
  }

  #hostUpdates(
    cluster: LiveCluster,
    only: ReadonlySet<string> | undefined,
  ): readonly ResourceUpdate[] {
    const isActive = this.#present.active(cluster.name) === cluster;
    if (!isActive && this.#atWorkers.get(cluster.name) !== cluster) return [];
    const which = isActive ? {} : ({ isWarming: true } as const);
    if (only === undefined) {
      if (this.#sent.isKnown(cluster)) return [];
      return this.#sent.updatesOf(cluster).map((update) => ({ ...update, ...which }));
    }
    const bits: (readonly [id: string, bits: number])[] = [];
    for (const id of only) {
      const host = cluster.host(id);
      if (host === undefined) continue;
      bits.push([id, host.healthBits ?? 0]);
      this.#sent.note(cluster, cluster.positionOf(id) ?? -1, host);
    }
    return [{ op: 'put_host_health', cluster: cluster.name, bits, ...which }];
  }
}

/** A version that workers check beside the one in use, as a worker gets it that has none. */
export function checkedUpdates({ resolved, hosts }: LiveCluster): readonly ResourceUpdate[] {
  return [
    { op: 'put_cluster', cluster: resolved.resource, isWarming: true },
    { op: 'put_hosts', hosts, isWarming: true },
  ];
}

/**
 * Whether workers apply these within one turn of their loop, so that what follows need not wait.
 */
export function areShort(updates: readonly ResourceUpdate[]): boolean {
  return updates.length <= SHORT_UPDATES && updates.every(isShort);
}

function isShort(update: ResourceUpdate): boolean {
  if (update.op === 'put_host_health') return update.bits.length <= HOSTS_PER_PART;
  if (update.op !== 'put_hosts') return update.op === 'put_host_answers';
  const { hosts, revision } = update.hosts;
  return revision === undefined && hosts.length <= HOSTS_PER_PART;
}
