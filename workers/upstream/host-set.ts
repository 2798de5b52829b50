/**
 * The hosts that a cluster has in this worker and how they become others: hosts that stay are kept, the
 * balancer gets ready for the new ones, and then all change at once. Of many hosts this takes several
 * turns of the loop, in which the earlier ones serve. Whoever owns the set makes hosts and changes them.
 */
import type { ClusterHostsResource, HostResource } from '../../shared/resources/cluster.ts';
import type { SentHostSet } from '../../shared/resources/resource-update.ts';
import { IDLE_HOSTS_MAX } from '../../shared/resources/idle-clusters.ts';
import { HEALTH_BITS, healthOf } from '../../shared/resources/host-health.ts';
import { ITEMS_PER_STEP, type SlicedWork, type Steps } from '../sliced-work.ts';
import type { UpstreamHost } from './host.ts';
import type { LoadBalancer } from './load-balancer.ts';

export type HealthChange = readonly [id: string, bits: number];

export interface HostSetParts {
  readonly work: SlicedWork;
  readonly balancer: LoadBalancer;
  /** The host of this resource: `known`, which stays, or a new one. */
  readonly keepOrMake: (known: UpstreamHost | undefined, resource: HostResource) => UpstreamHost;
  /** With those that were not in the list and have to stay. */
  readonly join: (hosts: readonly UpstreamHost[]) => readonly UpstreamHost[];
  /** The update's hosts are in force. */
  readonly replaced: (update: ClusterHostsResource) => void;
  /** What is left to do for the update while its hosts are in use already. */
  readonly follow: (update: ClusterHostsResource) => Steps;
  /** Other sources said this of the host. */
  readonly healthNoted: (id: string, bits: number) => void;
}

/** Above that a change takes several turns. */
export const LARGE_SET = IDLE_HOSTS_MAX;

type Index = Map<string, UpstreamHost>;

export class HostSet {
  readonly #parts: HostSetParts;
  hosts: readonly UpstreamHost[] = [];
  /** In percent. */
  overprovisioningFactor = 140;
  /** Another number after each change of the hosts or their health. */
  version = 0;
  /** By id; of a small set not kept. */
  #index: Index | undefined;
  #latest: SentHostSet | undefined;
  /** Changes that wait, each of which ends with a new state of the balancer. */
  #changes = 0;
  #usable = { version: -1, count: 0 };

  constructor(parts: HostSetParts) {
    this.#parts = parts;
  }

  /** Replaces the set; `isUrgent`: before this returns. */
  put(update: SentHostSet, isUrgent: boolean): void {
    const most = Math.max(this.hosts.length, update.hosts.length);
    this.#latest = update;
    this.#changes += 1;
    this.#parts.work.add(!isUrgent && most > LARGE_SET, () => this.#replace(update));
  }

  putHealth(changes: readonly HealthChange[]): void {
    this.#changes += 1;
    this.#parts.work.add(this.hosts.length > LARGE_SET, () => this.#changeHealth(changes));
  }

  find(id: string): UpstreamHost | undefined {
    this.#index ??= new Map(this.hosts.map((host) => [host.id, host]));
    return this.#index.get(id);
  }

  /** How many hosts may be asked. */
  get usable(): number {
    if (this.#usable.version !== this.version) {
      const count = this.hosts.filter(({ health }) => health !== 'unhealthy').length;
      this.#usable = { version: this.version, count };
    }
    return this.#usable.count;
  }

  *#replace(update: SentHostSet): Steps {
    this.#changes -= 1;
    // A later one follows.
    if (update !== this.#latest) return;
    const { keepOrMake, join, replaced, follow } = this.#parts;
    const known = yield* this.#known();
    const made: UpstreamHost[] = [];
    const index: Index = new Map();
    for (const [at, entry] of update.hosts.entries()) {
      if (at % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
      const host =
        typeof entry === 'string' ? known.get(entry) : keepOrMake(known.get(entry.id), entry);
      // Of a set older than the one that this worker began with: one that follows has no such host.
      if (host === undefined) continue;
      made.push(host);
      index.set(host.id, host);
    }
    const hosts = join(made);
    if (hosts !== made) for (const host of hosts) index.set(host.id, host);
    const putInForce = yield* this.#prepare(hosts, update.overprovisioningFactor);
    const before = this.hosts;
    this.hosts = hosts;
    this.overprovisioningFactor = update.overprovisioningFactor;
    this.#index = hosts.length > LARGE_SET ? index : undefined;
    const whole = { ...update, hosts: hosts.map(({ resource }) => resource) };
    replaced(whole);
    this.version += 1;
    putInForce();
    yield;
    for (const [at, host] of before.entries()) {
      if (!index.has(host.id)) host.drain();
      if (at % ITEMS_PER_STEP === 0) yield;
    }
    yield* follow(whole);
  }

  *#changeHealth(changes: readonly HealthChange[]): Steps {
    this.#changes -= 1;
    const { keepOrMake, healthNoted } = this.#parts;
    const known = yield* this.#known();
    for (const [at, [id, healthBits]] of changes.entries()) {
      if (at % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
      const host = known.get(id);
      if (host === undefined) continue;
      healthNoted(id, healthBits);
      const health = healthOf(healthBits);
      keepOrMake(host, { ...host.resource, healthBits, health, wasChecked: true });
    }
    if (this.#changes > 0) return;
    const putInForce = yield* this.#prepare(this.hosts, this.overprovisioningFactor);
    this.version += 1;
    putInForce();
  }

  *#known(): Steps<Index> {
    if (this.#index !== undefined) return this.#index;
    const index: Index = new Map();
    for (const host of this.hosts) {
      index.set(host.id, host);
      if (index.size % ITEMS_PER_STEP === 0) yield;
    }
    if (this.hosts.length > LARGE_SET) this.#index = index;
    return index;
  }

  /** Hosts that wait for their first check are none yet, where the cluster wants it so. */
  *#prepare(hosts: readonly UpstreamHost[], overprovisioningFactor: number): Steps<() => void> {
    const known: UpstreamHost[] = [];
    for (const [at, host] of hosts.entries()) {
      if (at % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
      const { healthBits = 0 } = host.resource;
      if ((healthBits & HEALTH_BITS.pending_active_hc) === 0) known.push(host);
    }
    return yield* this.#parts.balancer.prepare(known, overprovisioningFactor);
  }
}
