/** From a list of hosts that a module gave to the answer of a control plane that says the same. */
import { createHash } from 'node:crypto';

import { isIP } from '../../../shared/addresses/ip-text.ts';
import type { DiscoveredHost } from '../../../shared/scripts/cluster-discovery.ts';

const HOSTS_MAX = 50_000;
/** The limit of the answer. */
const BYTES_MAX = 32 * 1024 * 1024;
const TYPE = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment';
const HEALTH: ReadonlyMap<unknown, string> = new Map([
  ['healthy', 'HEALTHY'],
  ['degraded', 'DEGRADED'],
  ['unhealthy', 'UNHEALTHY'],
  ['draining', 'DRAINING'],
]);

/** A list that is none, in words for those who wrote the module. */
class HostListError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'HostListError';
  }
}

interface Locality {
  readonly locality: object;
  readonly priority: number;
  readonly lb_endpoints: object[];
}

/** JSON. Throws a `HostListError`; what members of the list throw by themselves, too. */
export function encodeHosts(cluster: string, list: unknown): Uint8Array<ArrayBuffer> {
  if (!Array.isArray(list)) throw new HostListError('it gave no array of hosts');
  if (list.length > HOSTS_MAX) {
    throw new HostListError(`it gave ${list.length} hosts, and at most ${HOSTS_MAX} may be`);
  }
  const localities = new Map<string, Locality>();
  for (let at = 0; at < list.length; at++) {
    const host: unknown = list[at];
    if (typeof host !== 'object' || host === null) throw wrong(at, 'is no object');
    addHost(host as Partial<DiscoveredHost>, at, localities);
  }
  const assignment = { '@type': TYPE, cluster_name: cluster, endpoints: [...localities.values()] };
  const resource = JSON.stringify(assignment);
  const version = createHash('sha256').update(resource).digest('hex').slice(0, 16);
  const answer = new TextEncoder().encode(
    `{"version_info":"${version}","resources":[${resource}]}`,
  );
  if (answer.length > BYTES_MAX) throw new HostListError('what it gave is too large');
  return answer;
}

function addHost(
  host: Partial<DiscoveredHost>,
  at: number,
  localities: Map<string, Locality>,
): void {
  const { locality = {}, priority = 0 } = host;
  if (typeof locality !== 'object' || locality === null) throw wrong(at, 'has no locality');
  if (!Number.isInteger(priority) || priority < 0 || priority > 128) {
    throw wrong(at, 'has no priority from 0 to 128');
  }
  const place = [locality.region ?? '', locality.zone ?? '', locality.subZone ?? ''];
  if (place.some((each) => typeof each !== 'string')) throw wrong(at, 'has no locality');
  const key = JSON.stringify([priority, ...place]);
  let known = localities.get(key);
  if (known === undefined) {
    const [region, zone, sub_zone] = place;
    known = { locality: { region, zone, sub_zone }, priority, lb_endpoints: [] };
    localities.set(key, known);
  }
  known.lb_endpoints.push(endpointOf(host, at));
}

function endpointOf(host: Partial<DiscoveredHost>, at: number): object {
  const { hostname, weight, health = 'healthy', metadata } = host;
  const status = HEALTH.get(health);
  if (status === undefined) throw wrong(at, `has the health ${String(health)}`);
  if (weight !== undefined && !isWithin(weight, 0xffffffff)) throw wrong(at, 'has no weight');
  if (hostname !== undefined && typeof hostname !== 'string') throw wrong(at, 'has no hostname');
  if (metadata !== undefined && (typeof metadata !== 'object' || metadata === null)) {
    throw wrong(at, 'has no metadata');
  }
  return {
    endpoint: { address: addressOf(host, at), hostname },
    // As a control plane that says nothing of it.
    ...(status === 'HEALTHY' ? {} : { health_status: status }),
    load_balancing_weight: weight,
    ...(metadata === undefined ? {} : { metadata: { filter_metadata: metadata } }),
  };
}

function addressOf({ address, port }: Partial<DiscoveredHost>, at: number): object {
  if (typeof address !== 'string') throw wrong(at, 'has no address');
  if (/^[/@]/.test(address)) return { pipe: { path: address } };
  if (isIP(address) === 0) {
    throw wrong(at, `has the address ${address.slice(0, 100)}, which is no IP address and no path`);
  }
  if (!isWithin(port, 65_535)) throw wrong(at, `has the port ${String(port)}`);
  return { socket_address: { address, port_value: port } };
}

function isWithin(value: unknown, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
}

function wrong(at: number, what: string): HostListError {
  return new HostListError(`host ${at} of its list ${what}`);
}
