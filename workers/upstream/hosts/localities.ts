/** Hosts by where they are. */
import type { UpstreamHost } from './host.ts';

interface Place {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
}

export function localityKey({ region, zone, subZone }: Place): string {
  return `${region}\0${zone}\0${subZone}`;
}

/** By `localityKey`, in the order in which the localities first appear. */
export function groupByLocality(
  hosts: readonly UpstreamHost[],
): ReadonlyMap<string, readonly UpstreamHost[]> {
  const groups = new Map<string, UpstreamHost[]>();
  for (const host of hosts) {
    const key = localityKey(host);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [host]);
    else group.push(host);
  }
  return groups;
}
