/** envoy.config.core.v3.Address of an IP address, in JSON form. */
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { HostAddress } from '../../shared/resources/clusters/cluster.ts';

export function hostAddressMessage(address: HostAddress): JsonObject {
  switch (address.kind) {
    case 'pipe':
      return { pipe: { path: address.path } };
    case 'internal':
      return internalMessage(address.listener, address.endpointId);
    case 'ip':
      return addressMessage(address.address, address.port);
  }
}

export function internalMessage(listener: string, endpointId: string): JsonObject {
  return {
    envoy_internal_address: {
      server_listener_name: listener,
      ...(endpointId === '' ? {} : { endpoint_id: endpointId }),
    },
  };
}

/** `port_value` is part of a oneof and printed even when it is 0. */
export function addressMessage(address: string, port: number): JsonObject {
  return { socket_address: { address, port_value: port } };
}
