/**
 * The short way for most hosts of large assignments: those with an IPv4 address, a port and at most
 * a name and a weight. It makes nothing but the host; anything else goes the long way.
 */
import { isIPv4 } from '../../../shared/addresses/ip-text.ts';
import type { SocketAddress } from '../../../shared/api/generated/envoy/config/core/v3/address.ts';
import type { LbEndpoint } from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint_components.ts';
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';

/** What a host has from its locality. */
export type LocalityInfo = Pick<
  HostResource,
  'priority' | 'region' | 'zone' | 'subZone' | 'localityWeight'
>;

/**
 * The host that the long way would make, with its fields in the same order; undefined: that has to.
 */
export function usualHost(message: LbEndpoint, locality: LocalityInfo): HostResource | undefined {
  const socket = usualSocket(message);
  if (socket === undefined) return undefined;
  const { address = '', port_value: port = 0 } = socket;
  const { priority, region, zone, subZone, localityWeight } = locality;
  const host: HostResource = {
    id: `${address}:${port}`,
    address: { kind: 'ip', address, port },
    hostname: message.endpoint?.hostname ?? '',
    weight: message.load_balancing_weight ?? 1,
    priority,
    health: 'healthy',
    region,
    zone,
    subZone,
    canary: false,
  };
  return localityWeight === undefined ? host : { ...host, localityWeight };
}

/** Its address is one of IPv4. */
function usualSocket(message: LbEndpoint): SocketAddress | undefined {
  const { endpoint } = message;
  if (endpoint === undefined || !hasOnly(message, 'endpoint', 'load_balancing_weight')) {
    return undefined;
  }
  const { address } = endpoint;
  if (address === undefined || !hasOnly(endpoint, 'address', 'hostname')) return undefined;
  const { socket_address: socket } = address;
  if (socket === undefined || !hasOnly(address, 'socket_address')) return undefined;
  const isFastPath = hasOnly(socket, 'address', 'port_value') && isIPv4(socket.address ?? '');
  return isFastPath ? socket : undefined;
}

function hasOnly(message: object, first: string, second = first): boolean {
  for (const name in message) if (name !== first && name !== second) return false;
  return true;
}
