/** What changed, as text or JSON. */
import type { StatKind } from '../../../shared/stats/template.ts';
import { exactNumber } from '../render/number-format.ts';
import type { StatChange, StatChanges } from './stat-changes.ts';

const SECTIONS: readonly (readonly [name: string, kind: StatKind])[] = [
  ['counters', 'counter'],
  ['gauges', 'gauge'],
  ['histograms', 'histogram'],
];

export function* changesAsText({ cursor, tookMs, changes }: StatChanges): Generator<string> {
  yield `cursor: ${cursor}\nmilliseconds: ${tookMs}\n`;
  for (const change of changes) yield `${change.name}: ${textOf(change)}\n`;
}

function textOf({ kind, printed, sum }: StatChange): string {
  if (kind === 'gauge') return printed;
  return kind === 'counter' ? `+${printed}` : `+${printed} values, sum ${exactNumber(sum)}`;
}

export function* changesAsJson({ cursor, tookMs, changes }: StatChanges): Generator<string> {
  yield `{"cursor":${JSON.stringify(cursor)},"milliseconds":${tookMs}`;
  for (const [section, kind] of SECTIONS) {
    let separator = '';
    yield `,"${section}":{`;
    for (const change of changes) {
      if (change.kind !== kind) continue;
      yield `${separator}${JSON.stringify(change.name)}:${jsonOf(change)}`;
      separator = ',';
    }
    yield '}';
  }
  yield '}\n';
}

function jsonOf({ kind, printed, sum }: StatChange): string {
  return kind === 'histogram' ? `{"count":${printed},"sum":${exactNumber(sum)}}` : printed;
}
