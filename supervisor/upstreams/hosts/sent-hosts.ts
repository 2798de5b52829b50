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
import { packHosts } from '../../../shared/resources/clusters/host-entries.ts';
import type { ResourceUpdate } from '../../../shared/resources/resource-update.ts';
import { EarlierList } from '../sources/earlier-list.ts';

type PutHosts = Extract<ResourceUpdate, { readonly op: 'put_hosts' }>;

/** Smaller sets are sent whole, since a worker may not have unpacked its cluster. */
const LARGE_SET = 500;

interface Version {
  readonly hosts: ClusterHostsResource;
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
  #revision = 0;

  /** The hosts as an update that may be sent now to all workers, which have this version. */
  updateOf(version: Version): PutHosts {
    const set = version.hosts;
    const before = this.#sent.get(version);
    this.#sent.delete(version);
    if (set.hosts.length <= LARGE_SET) {
      this.#small.set(version, set);
      return { op: 'put_hosts', hosts: set };
    }
    this.#small.delete(version);
    this.#revision += 1;
    const revision = this.#revision;
    const earlier = new EarlierList(before?.hosts ?? []);
    const hosts = packHosts(set.hosts, (host) => earlier.find(host));
    const base = before === undefined ? {} : { base: before.revision };
    this.#sent.set(version, { revision, hosts: [...set.hosts] });
    return { op: 'put_hosts', hosts: { ...set, hosts, revision, ...base } };
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

function isSameSet(
  { hosts: before, ...restBefore }: ClusterHostsResource,
  { hosts, ...rest }: ClusterHostsResource,
): boolean {
  if (hosts.length !== before.length) return false;
  if (!hosts.every((host, at) => host === before[at])) return false;
  return isDeepStrictEqual(rest, restBefore);
}
