/** Where a host is: a host that is said to be elsewhere is another host of the same address. */
import type { HostResource } from './cluster.ts';

type Place = Pick<HostResource, 'region' | 'zone' | 'subZone'>;

export function isSamePlace(one: Place, other: Place): boolean {
  return one.zone === other.zone && one.region === other.region && one.subZone === other.subZone;
}
