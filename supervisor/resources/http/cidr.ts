/** Resolves envoy.config.core.v3.CidrRange. */
import { isIPv4, isIPv6 } from '../../../shared/addresses/ip-text.ts';
import type { CidrRange } from '../../../shared/api/generated/envoy/config/core/v3/address.ts';
import type { Scope } from '../scope.ts';

export interface Cidr {
  readonly address: string;
  readonly prefixLength: number;
}

/** Undefined after a reported problem. A prefix longer than the address is cut, as Envoy does. */
export function resolveCidr(message: CidrRange, scope: Scope): Cidr | undefined {
  const { address_prefix: address = '', prefix_len: length = 0 } = message;
  if (isIPv4(address)) return { address, prefixLength: Math.min(length, 32) };
  if (isIPv6(address)) return { address, prefixLength: Math.min(length, 128) };
  scope.error(
    'address',
    `invalid ip/mask combo '${address}/${length}' (format is <ip>/<# mask bits>)`,
  );
  return undefined;
}
