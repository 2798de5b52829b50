/** Which statistics a page shows, from the parameters of its request. */
import type { StatKind } from '../../shared/stats/template.ts';
import { groupOf, type StatGroup } from './ordered-view.ts';
import { HIDDEN, REJECTED, USED } from './stat-flags.ts';
import type { StatStore } from './stat-store.ts';

export interface Selection {
  readonly usedOnly: boolean;
  readonly hidden: 'include' | 'only' | 'exclude';
  /** Absent: all kinds. */
  readonly kind?: StatKind;
  /** Absent: all names. */
  readonly acceptsName?: (name: string) => boolean;
}

export type Selects = (index: number, prefix: string, suffix: string) => boolean;

/** One test per statistic: its flags first, its name only if they pass. */
export function selector(store: StatStore, selection: Selection): Selects {
  const mustHave = (selection.usedOnly ? USED : 0) | (selection.hidden === 'only' ? HIDDEN : 0);
  const mustLack = REJECTED | (selection.hidden === 'exclude' ? HIDDEN : 0);
  const { kind, acceptsName } = selection;
  return (index, prefix, suffix) => {
    const flags = store.flagsOf(index);
    if ((flags & mustHave) !== mustHave || (flags & mustLack) !== 0) return false;
    if (kind !== undefined && store.kindOf(index) !== kind) return false;
    return acceptsName === undefined || acceptsName(prefix + suffix);
  };
}

/** Whether a group can hold anything that is selected. */
export function selectsGroup(selection: Selection, group: StatGroup): boolean {
  return selection.kind === undefined || groupOf(selection.kind) === group;
}
