/** What to write in place of a name that nothing has. */
import { nearestName } from '../../shared/text/nearest-name.ts';
import type { Scope } from './scope.ts';

const NAMES_SHOWN_MAX = 5;

/** The nearest of the names, or else the first ones; undefined where there is none, or the name is one. */
export function meantName(name: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  if (names.includes(name)) return undefined;
  const near = nearestName(name, names);
  if (near !== undefined) return `did you mean ${near}?`;
  if (names.length === 0) return undefined;
  const more = names.length > NAMES_SHOWN_MAX ? ' and others' : '';
  return `there are ${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${more}`;
}

/** Undefined: the names are not known here, or there is none. */
export function meantCluster(name: string, { context }: Scope): string | undefined {
  return meantName(name, context.clusterNames ?? []);
}
