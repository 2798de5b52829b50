/**
 * What stands behind the `%` of an IPv6 address: an interface by its number, or by its name on this
 * machine.
 */
import { ipv6Groups } from '../addresses/ip-groups.ts';
import { libcFunction } from './libc.ts';

const nametoindex = libcFunction<[string], number>('uint32_t if_nametoindex(const char *)');

/** IFNAMSIZ without its zero: no interface has a longer name. */
const NAME_MAX = 15;
const SCOPE_MAX = 0xffff_ffff;

/**
 * As getaddrinfo has it: names only of link-local addresses. 0 says nothing; undefined: there is no
 * such one.
 */
export function scopeIdOf(address: string, scope: string): number | undefined {
  if (isLinkLocal(address) && /^[^\0/\s]+$/.test(scope) && scope.length <= NAME_MAX) {
    const index = nametoindex(scope);
    if (index > 0) return index;
  }
  if (!/^[0-9]{1,10}$/.test(scope)) return undefined;
  const number = Number(scope);
  return number <= SCOPE_MAX ? number : undefined;
}

/** fe80::/10, or multicast of one link. */
function isLinkLocal(address: string): boolean {
  const [first = 0] = ipv6Groups(address);
  return (first & 0xffc0) === 0xfe80 || (first & 0xff0f) === 0xff02;
}
