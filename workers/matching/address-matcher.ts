/** Compiles lists of address ranges to a predicate over addresses. */
import { BlockList } from 'node:net';
import type { AddressRange } from '../../shared/resources/matchers.ts';

/** An empty text, and what is no address, is in no range. */
export type AddressPredicate = (ip: string) => boolean;

export function compileAddressRanges(ranges: readonly AddressRange[]): AddressPredicate {
  const list = new BlockList();
  for (const { address, prefixLength } of ranges) {
    list.addSubnet(address, prefixLength, familyOf(address));
  }
  return (ip) => ip !== '' && list.check(ip, familyOf(ip));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}
