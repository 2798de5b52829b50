/**
 * Which hosts of large sets the workers have already: an update of ten thousand hosts of which ten are
 * others carries ten and the ids of the rest. Knows hosts by identity, so whoever makes them must give
 * out the same object while nothing of a host changed.
 */
import type { ClusterHostsResource, HostResource } from '../../shared/resources/cluster.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';

type PutHosts = Extract<ResourceUpdate, { readonly op: 'put_hosts' }>;

/** Smaller sets are sent whole, since a worker may not have unpacked its cluster. */
const LARGE_SET = 500;

export class SentHosts {
  readonly #sent = new WeakSet<HostResource>();

  /** The whole set as an update that may be sent to all workers now. */
  updateOf(set: ClusterHostsResource): PutHosts {
    if (set.hosts.length <= LARGE_SET) return { op: 'put_hosts', hosts: set };
    const hosts = set.hosts.map((host) => (this.#sent.has(host) ? host.id : host));
    for (const host of set.hosts) this.#sent.add(host);
    return { op: 'put_hosts', hosts: { ...set, hosts } };
  }

  /** All that is new of these hosts was sent in another way. */
  note(hosts: readonly HostResource[]): void {
    for (const host of hosts) this.#sent.add(host);
  }
}
