/**
 * Finds the hosts of endpoints that an earlier assignment had as the same objects: large answers
 * share the parts that came before. Made for one assignment, in whose order it is asked.
 */
import type { LbEndpoint } from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint_components.ts';
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import type { ResolvedHosts } from '../../resources/clusters/load-assignment.ts';
import { EarlierList } from '../../upstreams/sources/earlier-list.ts';

/** Each host at the position of its endpoint. */
export interface HostsByEndpoint {
  readonly endpoints: readonly LbEndpoint[];
  readonly hosts: readonly HostResource[];
}

export class KnownHosts implements ResolvedHosts {
  readonly #list: EarlierList<LbEndpoint>;
  readonly #hosts: readonly HostResource[];
  readonly #endpoints: LbEndpoint[] = [];
  readonly #resolved: HostResource[] = [];

  constructor(earlier: HostsByEndpoint | undefined) {
    this.#list = new EarlierList(earlier?.endpoints ?? []);
    this.#hosts = earlier?.hosts ?? [];
  }

  find(endpoint: LbEndpoint): HostResource | undefined {
    const at = this.#list.find(endpoint);
    return at < 0 ? undefined : this.#hosts[at];
  }

  note(endpoint: LbEndpoint, host: HostResource): void {
    this.#endpoints.push(endpoint);
    this.#resolved.push(host);
  }

  /** The hosts of the assignment that it was made for. */
  get resolved(): HostsByEndpoint {
    return { endpoints: this.#endpoints, hosts: this.#resolved };
  }
}
