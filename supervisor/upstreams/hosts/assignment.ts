/**
 * What is said of a cluster's set of hosts as a whole: its overprovisioning factor and the share of
 * requests that is dropped, as the configuration has them until a control plane says otherwise.
 */
import type {
  ClusterHostsResource,
  DropOverload,
  HostResource,
} from '../../../shared/resources/clusters/cluster.ts';
import type { RuntimeSnapshot } from '../../../shared/resources/runtime.ts';
import type { AssignmentPolicy } from '../sources/host-source.ts';
import { DropPolicy } from './drop-policy.ts';

export class Assignment {
  /** Without what may change. */
  readonly #configured: ClusterHostsResource;
  readonly #drop: DropPolicy;
  #overprovisioningFactor: number;
  /** Since the last set of hosts. */
  #hasOtherFactor = false;

  constructor(configured: ClusterHostsResource, runtime: () => RuntimeSnapshot) {
    const { dropOverload, ...others } = configured;
    this.#configured = others;
    this.#drop = new DropPolicy(dropOverload, runtime);
    this.#overprovisioningFactor = configured.overprovisioningFactor;
  }

  /** For the next set of hosts. */
  setPolicy({ overprovisioningFactor, dropOverload }: AssignmentPolicy): void {
    this.#drop.plan(dropOverload);
    if (overprovisioningFactor !== this.#overprovisioningFactor) this.#hasOtherFactor = true;
    this.#overprovisioningFactor = overprovisioningFactor;
  }

  /** Whether the set that comes now has another factor than the one before it. */
  takeOtherFactor(): boolean {
    const hasOther = this.#hasOtherFactor;
    this.#hasOtherFactor = false;
    return hasOther;
  }

  hostsSet(isOther: boolean): void {
    this.#drop.hostsSet(isOther);
  }

  /** With what is in force. */
  present(hosts: readonly HostResource[]): ClusterHostsResource {
    return this.#with(hosts, this.#drop.present);
  }

  /** With what was said last, in force or not. */
  planned(hosts: readonly HostResource[]): ClusterHostsResource {
    return this.#with(hosts, this.#drop.planned);
  }

  #with(
    hosts: readonly HostResource[],
    dropOverload: DropOverload | undefined,
  ): ClusterHostsResource {
    return {
      ...this.#configured,
      hosts,
      overprovisioningFactor: this.#overprovisioningFactor,
      ...(dropOverload === undefined ? {} : { dropOverload }),
    };
  }
}

export function emptyAssignment(cluster: string): ClusterHostsResource {
  return { cluster, hosts: [], overprovisioningFactor: 140 };
}
