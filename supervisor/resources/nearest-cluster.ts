/** What to write in place of a cluster that is not there. */
import { nearestName } from '../../shared/text/nearest-name.ts';
import type { Scope } from './scope.ts';

const NAMES_SHOWN_MAX = 5;

/** Undefined: the names are not known here, or there is none. */
export function meantCluster(name: string, { context }: Scope): string | undefined {
  const names = context.clusterNames ?? [];
  const near = nearestName(name, names);
  if (near !== undefined) return `did you mean ${near}?`;
  if (names.length === 0) return undefined;
  const more = names.length > NAMES_SHOWN_MAX ? ' and others' : '';
  return `there are ${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${more}`;
}
