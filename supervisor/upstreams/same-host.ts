/** Whether two versions of a host say the same. */
import { isDeepStrictEqual } from 'node:util';
import type { HostResource } from '../../shared/resources/cluster.ts';

/** Quick for hosts whose fields are texts and numbers, as most are. */
export function isSameHost(before: HostResource, after: HostResource): boolean {
  if (before === after) return true;
  const old: Readonly<Record<string, unknown>> = { ...before };
  let count = 0;
  for (const [name, value] of Object.entries(after)) {
    count += 1;
    const known = old[name];
    if (known === value) continue;
    if (typeof value !== 'object' || !isDeepStrictEqual(known, value)) return false;
  }
  return count === Object.keys(before).length;
}
