/** The share of the whole that each host of a table of hashes has: all of them together are 1. */
import type { UpstreamHost } from './host.ts';
import { groupByLocality } from './localities.ts';

export interface WeighedHost {
  readonly host: UpstreamHost;
  readonly weight: number;
}

/** With localities a host has its share of its locality's, and none where that has no weight. */
export function weighHosts(
  hosts: readonly UpstreamHost[],
  weighsLocalities: boolean,
): readonly WeighedHost[] {
  if (!weighsLocalities) return sharesOf(hosts, 1);
  const groups = [...groupByLocality(hosts).values()];
  const weightOf = ([first]: readonly UpstreamHost[]): number =>
    first?.resource.localityWeight ?? 0;
  const total = groups.reduce((sum, group) => sum + weightOf(group), 0);
  return groups
    .filter((group) => weightOf(group) > 0)
    .flatMap((group) => sharesOf(group, weightOf(group) / total));
}

function sharesOf(hosts: readonly UpstreamHost[], share: number): readonly WeighedHost[] {
  const total = hosts.reduce((sum, { weight }) => sum + weight, 0);
  return hosts.map((host) => ({ host, weight: (share * host.weight) / total }));
}
