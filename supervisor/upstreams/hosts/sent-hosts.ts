/**
 * Which hosts of large sets the workers have already, so that an update carries what is new and
 * where the rest stands in the set before. Knows hosts by identity: their maker must give
 * out the same object while nothing of a host changed.
 */
import { isDeepStrictEqual } from 'node:util';
import type {
  ClusterHostsResource,
  HostResource,
} from '../../../shared/resources/clusters/cluster.ts';
import { packHostsInSteps } from '../../../shared/resources/clusters/host-entries.ts';
import {
  partsAsUpdates,
  partsOf,
  type PutHosts,
} from '../../../shared/resources/clusters/host-parts.ts';
import type { HostEntry, ResourceUpdate } from '../../../shared/resources/resource-update.ts';
import { atOnce, type Steps } from '../../loop/loop-turns.ts';
import { EarlierList } from '../sources/earlier-list.ts';

/** Of a set, as they travel. */
type Parts = readonly (readonly HostEntry[])[];
type PutHealth = Extract<ResourceUpdate, { readonly op: 'put_host_health' }>;

/** Smaller sets are sent whole, since a worker may not have unpacked its cluster. */
const LARGE_SET = 500;

/** Hosts whose health is sent beside a packed set. */
const OTHERS_MAX = 256;

interface Version {
  readonly hosts: ClusterHostsResource;
}

interface Prepared {
  /** What the workers had then. */
  readonly base: Sent | undefined;
  readonly hosts: readonly HostResource[];
  readonly parts: Parts;
}

interface Sent {
  readonly revision: number;
  /** In the order in which the workers have them. */
  readonly hosts: HostResource[];
}

export class SentHosts {
  /** By version of a cluster. */
  readonly #sent = new WeakMap<Version, Sent>();
  /** The last small set of a version, while nothing was said of single hosts since. */
  readonly #small = new WeakMap<Version, ClusterHostsResource>();
  readonly #prepared = new WeakMap<Version, Prepared>();
  #revision = 0;

  /** Packs a large set that is about to be the version's, as the workers may then get it. */
  *prepare(version: Version, hosts: readonly HostResource[]): Steps<void> {
    if (hosts.length <= LARGE_SET) return;
    const base = this.#sent.get(version);
    const parts = yield* pack(base, hosts);
    this.#prepared.set(version, { base, hosts: [...hosts], parts });
  }

  /** The hosts as updates that may be sent now to all workers, which have this version. */
  updatesOf(version: Version): readonly (PutHosts | PutHealth)[] {
    const set = version.hosts;
    const base = this.#sent.get(version);
    const prepared = this.#prepared.get(version);
    this.#sent.delete(version);
    this.#prepared.delete(version);
    if (set.hosts.length <= LARGE_SET) {
      this.#small.set(version, set);
      return [{ op: 'put_hosts', hosts: set }];
    }
    this.#small.delete(version);
    this.#revision += 1;
    const revision = this.#revision;
    const isOnBase = prepared !== undefined && prepared.base === base;
    const others = isOnBase ? othersOf(prepared, set.hosts) : undefined;
    const parts =
      prepared === undefined || others === undefined
        ? atOnce(pack(base, set.hosts))
        : prepared.parts;
    this.#sent.set(version, { revision, hosts: [...set.hosts] });
    const on = base === undefined ? {} : { base: base.revision };
    const whole = { op: 'put_hosts', hosts: { ...set, hosts: [], revision, ...on } } as const;
    const puts = partsAsUpdates(whole, parts);
    if (others === undefined || others.length === 0) return puts;
    const bits = others.map(({ id, healthBits = 0 }) => [id, healthBits] as const);
    return [...puts, { op: 'put_host_health', cluster: set.cluster, bits }];
  }

  /** Whether the workers have just this set: it went and came back between two messages. */
  isKnown(version: Version): boolean {
    const known = this.#small.get(version);
    return known !== undefined && isSameSet(known, version.hosts);
  }

  /**
   * All that is new of this host, which stands at this position of the last set, was sent in
   * another way.
   */
  note(version: Version, position: number, host: HostResource): void {
    this.#small.delete(version);
    const sent = this.#sent.get(version);
    if (sent?.hosts[position]?.id === host.id) sent.hosts[position] = host;
  }

  /**
   * Some worker has, or gets, another set than the last: the next one goes to all of them as a
   * whole.
   */
  forget(version: Version): void {
    this.#sent.delete(version);
    this.#small.delete(version);
  }
}

function* pack(base: Sent | undefined, hosts: readonly HostResource[]): Steps<Parts> {
  const earlier = new EarlierList(base?.hosts ?? []);
  const entries = yield* packHostsInSteps(hosts, (host) => earlier.find(host));
  const parts: (readonly HostEntry[])[] = [];
  for (const part of partsOf(entries)) {
    parts.push(part);
    yield;
  }
  return parts;
}

/**
 * Hosts of which something was said since the set was packed; undefined: it is another set, or so
 * many that it is packed again.
 */
function othersOf(
  { hosts: packed }: Prepared,
  hosts: readonly HostResource[],
): readonly HostResource[] | undefined {
  if (packed.length !== hosts.length) return undefined;
  const others: HostResource[] = [];
  for (let at = 0; at < hosts.length; at++) {
    const host = hosts[at] as HostResource;
    if (host === packed[at]) continue;
    if (host.id !== packed[at]?.id || others.length === OTHERS_MAX) return undefined;
    others.push(host);
  }
  return others;
}

function isSameSet(
  { hosts: before, ...restBefore }: ClusterHostsResource,
  { hosts, ...rest }: ClusterHostsResource,
): boolean {
  if (hosts.length !== before.length) return false;
  if (!hosts.every((host, at) => host === before[at])) return false;
  return isDeepStrictEqual(rest, restBefore);
}
