/** envoy.config.core.v3.Address of an IP address, in JSON form. */
import type { JsonObject } from '../../shared/api/well-known.ts';

/** `port_value` is part of a oneof and printed even when it is 0. */
export function addressMessage(address: string, port: number): JsonObject {
  return { socket_address: { address, port_value: port } };
}
