/**
 * What happened at the hosts of a cluster since it was asked the last time, as the messages of the
 * load reporting service say it.
 */
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { HostResource } from '../../shared/resources/clusters/cluster.ts';
import { HOST } from '../../shared/stats/templates/cluster.ts';
import type { StatStore } from '../stats/stat-store.ts';
import type { LiveCluster } from '../upstreams/live-cluster.ts';

type Store = Pick<StatStore, 'find' | 'valueOf'>;

interface Loads {
  readonly successful: number;
  readonly inProgress: number;
  readonly failed: number;
  readonly issued: number;
}

/** Counts since a worker first used the host. */
interface Counts {
  readonly successful: number;
  readonly failed: number;
  readonly issued: number;
}

const NO_COUNTS: Counts = { successful: 0, failed: 0, issued: 0 };

export class HostLoads {
  readonly #store: Store;
  /** The counts of the last report, by host. */
  #before = new Map<string, Counts>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** What has happened so far is not reported. */
  begin(cluster: LiveCluster): void {
    this.#before = new Map(
      cluster.hostList.map((host) => [host.id, this.#countsOf(cluster, host)]),
    );
  }

  /** envoy.config.endpoint.v3.UpstreamLocalityStats of every locality where something happened. */
  take(cluster: LiveCluster, withEndpoints: boolean): JsonObject[] {
    const seen = new Map<string, Counts>();
    const localities = new Map<string, Locality>();
    for (const host of cluster.hostList) {
      const loads = this.#loadsOf(cluster, host, seen);
      const key = JSON.stringify([host.priority, host.region, host.zone, host.subZone]);
      const locality = localities.get(key) ?? { host, loads: NO_LOADS, endpoints: [] };
      localities.set(key, locality);
      locality.loads = sumOf(locality.loads, loads);
      if (withEndpoints && !isIdle(loads)) locality.endpoints.push(endpointMessage(host, loads));
    }
    this.#before = seen;
    return [...localities.values()].filter(({ loads }) => !isIdle(loads)).map(localityMessage);
  }

  #loadsOf(cluster: LiveCluster, host: HostResource, seen: Map<string, Counts>): Loads {
    const now = this.#countsOf(cluster, host);
    const before = this.#before.get(host.id) ?? NO_COUNTS;
    seen.set(host.id, now);
    // Counts begin again where a host went and came back.
    const since = (name: keyof Counts): number => Math.max(0, now[name] - before[name]);
    return {
      successful: since('successful'),
      failed: since('failed'),
      issued: since('issued'),
      inProgress: Math.max(0, this.#valueOf(cluster, host, 'rq_active')),
    };
  }

  #countsOf(cluster: LiveCluster, host: HostResource): Counts {
    return {
      successful: this.#valueOf(cluster, host, 'rq_success'),
      failed: this.#valueOf(cluster, host, 'rq_error'),
      issued: this.#valueOf(cluster, host, 'rq_total'),
    };
  }

  #valueOf(cluster: LiveCluster, { id }: HostResource, name: keyof typeof HOST.index): number {
    const base = this.#store.find(HOST, `host.${cluster.name}.${id}.`)?.base;
    return base === undefined ? 0 : this.#store.valueOf(base + HOST.index[name]);
  }
}

interface Locality {
  /** The first of its hosts. */
  readonly host: HostResource;
  loads: Loads;
  readonly endpoints: JsonObject[];
}

const NO_LOADS: Loads = { successful: 0, inProgress: 0, failed: 0, issued: 0 };

function sumOf(left: Loads, right: Loads): Loads {
  return {
    successful: left.successful + right.successful,
    inProgress: left.inProgress + right.inProgress,
    failed: left.failed + right.failed,
    issued: left.issued + right.issued,
  };
}

function isIdle({ successful, inProgress, failed, issued }: Loads): boolean {
  return successful + inProgress + failed + issued === 0;
}

function localityMessage({ host, loads, endpoints }: Locality): JsonObject {
  return {
    locality: { region: host.region, zone: host.zone, sub_zone: host.subZone },
    ...loadMessage(loads),
    ...(endpoints.length === 0 ? {} : { upstream_endpoint_stats: endpoints }),
    ...(host.priority === 0 ? {} : { priority: host.priority }),
  };
}

function endpointMessage({ address }: HostResource, loads: Loads): JsonObject {
  return { ...addressMessage(address), ...loadMessage(loads) };
}

/** What is zero is left out. */
function loadMessage({ successful, inProgress, failed, issued }: Loads): JsonObject {
  return {
    ...(successful === 0 ? {} : { total_successful_requests: String(successful) }),
    ...(inProgress === 0 ? {} : { total_requests_in_progress: String(inProgress) }),
    ...(failed === 0 ? {} : { total_error_requests: String(failed) }),
    ...(issued === 0 ? {} : { total_issued_requests: String(issued) }),
  };
}

function addressMessage(address: HostResource['address']): JsonObject {
  switch (address.kind) {
    case 'ip':
      return {
        address: { socket_address: { address: address.address, port_value: address.port } },
      };
    case 'pipe':
      return { address: { pipe: { path: address.path } } };
    case 'internal':
      return {};
  }
}
