/**
 * The hosts that a cluster has in this worker and how they become others: hosts that stay are kept,
 * the balancer gets ready for the new ones, and then all change at once. Of many hosts this takes
 * several turns of the loop, in which the earlier ones serve. The owner of the set makes hosts and
 * changes them.
 */
import { isDeepStrictEqual } from 'node:util';
import type {
  ClusterHostsResource,
  DropOverload,
  HostResource,
} from '../../../shared/resources/clusters/cluster.ts';
import {
  countHosts,
  isKept,
  unpackHosts,
} from '../../../shared/resources/clusters/host-entries.ts';
import type { SentHostSet } from '../../../shared/resources/resource-update.ts';
import { IDLE_HOSTS_MAX } from '../../../shared/resources/clusters/lazy-clusters.ts';
import { healthOf } from '../../../shared/resources/clusters/host-health.ts';
import { type Haste, ITEMS_PER_STEP, type SlicedWork, type Steps } from '../../loop/sliced-work.ts';
import type { UpstreamHost } from './host.ts';
import type { LoadBalancer } from '../balancing/load-balancer.ts';

export type HealthChange = readonly [id: string, bits: number];

export interface HostSetParts {
  readonly work: SlicedWork;
  readonly balancer: LoadBalancer;
  /** The host of this resource: `known`, which stays, or a new one. */
  readonly keepOrMake: (known: UpstreamHost | undefined, resource: HostResource) => UpstreamHost;
  /** With those that were not in the list and have to stay. */
  readonly join: (hosts: readonly UpstreamHost[]) => readonly UpstreamHost[];
  /** The update's hosts are in force. */
  readonly replaced: (update: SentHostSet) => void;
  /** Hosts came or went; absent where that is nothing to the others. */
  readonly othersChanged: (() => void) | undefined;
  /**
   * What is left to do for the update while its hosts are in use already; undefined: nothing is.
   */
  readonly follow: ((update: ClusterHostsResource) => Steps) | undefined;
  /** Other sources said this of the host. */
  readonly healthNoted: (id: string, bits: number) => void;
}

/** Above that a change takes several turns. */
export const LARGE_SET = IDLE_HOSTS_MAX;

/** Undefined: something newer came. */
type PutInForce = (() => void) | undefined;

type Index = Map<string, UpstreamHost>;

/** How soon work on so many hosts is done. */
export function hasteOf(hosts: number): Haste {
  return hosts > LARGE_SET ? 'later' : 'soon';
}

export class HostSet {
  readonly #parts: HostSetParts;
  hosts: readonly UpstreamHost[] = [];
  /** In percent. */
  overprovisioningFactor = 140;
  dropOverload: DropOverload | undefined = undefined;
  /** Another number after each change of the hosts or their health. */
  version = 0;
  /** By id, those of `#made` and what joined them; of a small set not kept. */
  #index: Index | undefined;
  /** Those of the update that came last, in its order: what the next one calls kept. */
  #made: readonly UpstreamHost[] = [];
  #revision: number | undefined;
  /** They were in a set, which is not the one that came last. */
  #gone: UpstreamHost[] = [];
  /** The number of the set that came last, which its hosts carry. */
  #round = 0;
  #latest: SentHostSet | undefined;
  /** Some host came, or is said to be other than it was, since the balancer got ready last. */
  #hasChanges = false;
  /** Changes that wait, each of which ends with a new state of the balancer. */
  #changes = 0;
  /** What was got ready last was given up for something newer. */
  #gaveWay = false;
  #usable = { version: -1, count: 0 };

  constructor(parts: HostSetParts) {
    this.#parts = parts;
  }

  /** Replaces the set; `isUrgent`: before this returns. */
  put(update: SentHostSet, isUrgent: boolean): void {
    // The worker began with a newer one.
    if (update.base !== undefined && update.base !== this.#revision) return;
    this.#revision = update.revision;
    const most = Math.max(this.hosts.length, countHosts(update.hosts));
    this.#latest = update;
    this.#changes += 1;
    const haste = isUrgent ? 'now' : hasteOf(most);
    this.#parts.work.add(haste, () => this.#replace(update));
  }

  putHealth(changes: readonly HealthChange[]): void {
    this.#changes += 1;
    this.#parts.work.add(hasteOf(this.hosts.length), () => this.#changeHealth(changes));
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
    const { join, replaced, follow } = this.#parts;
    const index = yield* this.#compose(update);
    // A later one follows, which may name hosts of this one by their places in it.
    if (update !== this.#latest) {
      this.#index = index;
      return;
    }
    const made = this.#made;
    const hosts = join(made);
    if (hosts !== made) for (const host of hosts) index.set(host.id, host);
    yield;
    const { overprovisioningFactor } = update;
    const isOther = this.#gone.length > 0 || hosts.length !== this.hosts.length;
    const preparing = this.#prepare(hosts, overprovisioningFactor, isOther);
    const putInForce = yield* this.#unless(() => update !== this.#latest, preparing);
    if (putInForce === undefined) {
      this.#index = index;
      return;
    }
    this.hosts = hosts;
    this.overprovisioningFactor = overprovisioningFactor;
    this.dropOverload = update.dropOverload;
    this.#index = hosts.length > LARGE_SET ? index : undefined;
    replaced(update);
    putInForce();
    if (isOther) this.#parts.othersChanged?.();
    yield;
    const gone = this.#gone;
    this.#gone = [];
    for (const [at, host] of gone.entries()) {
      // What a request named may be there on its own.
      if (index.get(host.id) !== host) host.drain();
      if (at % ITEMS_PER_STEP === 0) yield;
    }
    if (follow !== undefined) {
      yield* follow({ ...update, hosts: hosts.map(({ resource }) => resource) });
    }
  }

  /** Makes the update's hosts those that came last. */
  *#compose(update: SentHostSet): Steps<Index> {
    const index = yield* this.#known();
    const before = this.#made;
    const made: UpstreamHost[] = [];
    let stepped = 0;
    this.#round += 1;
    for (const entry of update.hosts) {
      if (isKept(entry)) {
        for (let at = entry.from; at < entry.from + entry.count; at++) {
          const host = before[at];
          if (host === undefined) throw new Error(`a set of hosts has none at ${at}`);
          host.round = this.#round;
          made.push(host);
        }
      } else {
        for (const resource of unpackHosts(entry)) made.push(this.#keepOrMake(resource, index));
      }
      if (made.length - stepped < ITEMS_PER_STEP) continue;
      stepped = made.length;
      yield;
    }
    let looked = 0;
    for (const host of before) {
      if (host.round !== this.#round) {
        this.#gone.push(host);
        if (index.get(host.id) === host) index.delete(host.id);
      }
      looked += 1;
      if (looked % (4 * ITEMS_PER_STEP) === 0) yield;
    }
    this.#made = made;
    return index;
  }

  /** A set that says nothing new leaves the balancer as it is, with its turns. */
  *#prepare(
    hosts: readonly UpstreamHost[],
    overprovisioningFactor: number,
    isOther: boolean,
  ): Steps<() => void> {
    const isNews = isOther || this.#hasChanges || this.version === 0;
    this.#hasChanges = false;
    const isSame =
      overprovisioningFactor === this.overprovisioningFactor &&
      hosts.every((host, at) => host === this.hosts[at]);
    if (!isNews && isSame) return () => undefined;
    const putInForce = yield* this.#parts.balancer.prepare(hosts, overprovisioningFactor);
    return () => {
      this.version += 1;
      putInForce();
    };
  }

  #keepOrMake(resource: HostResource, index: Index): UpstreamHost {
    const known = index.get(resource.id);
    this.#hasChanges ||= known === undefined || !isDeepStrictEqual(known.resource, resource);
    const host = this.#parts.keepOrMake(known, resource);
    host.round = this.#round;
    if (known !== host) index.set(host.id, host);
    return host;
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
    if (this.#changes > 0) {
      this.#hasChanges = true;
      return;
    }
    yield;
    const preparing = this.#parts.balancer.prepare(this.hosts, this.overprovisioningFactor);
    const putInForce = yield* this.#unless(() => this.#changes > 0, preparing);
    if (putInForce === undefined) return;
    this.version += 1;
    putInForce();
  }

  /**
   * Gives up what the balancer gets ready for as soon as something newer waits, but not twice in a
   * row: hosts that change faster than a large table is made would have the first table for ever.
   */
  *#unless(isSuperseded: () => boolean, preparing: Steps<() => void>): Steps<PutInForce> {
    for (;;) {
      const step = preparing.next();
      if (step.done === true) {
        this.#gaveWay = false;
        return step.value;
      }
      if (!this.#gaveWay && isSuperseded()) {
        this.#gaveWay = true;
        this.#hasChanges = true;
        return undefined;
      }
      yield;
    }
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
}
