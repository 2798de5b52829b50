/**
 * What OpenMetrics wants otherwise than the text format: a last line, canonical numbers in bounds,
 * and counters whose samples end in `_total`. Samples keep the names that they have elsewhere, so
 * that one query finds them in both formats: a counter of another name is a family of unknown type.
 */
import type { Exemplar } from '../../../shared/messages/exemplars.ts';
import type { StatKind } from '../../../shared/stats/template.ts';
import { escapeLabelValue } from '../../stats/tags/prometheus-names.ts';
import type { Family } from './prometheus-plan.ts';

export const END_OF_OPENMETRICS = '# EOF\n';

const TOTAL = '_total';

interface FamilyHead {
  readonly metric: string;
  /** Absent: the type of the text format. */
  readonly type?: 'counter' | 'unknown' | undefined;
}

/** How each family is called and typed. */
export function openMetricsTypes(
  families: readonly Family[],
): (family: { readonly metric: string; readonly kind: StatKind }) => FamilyHead {
  const metrics = new Set(families.map(({ metric }) => metric));
  return ({ metric, kind }) => {
    if (kind !== 'counter') return { metric };
    const base = metric.slice(0, -TOTAL.length);
    // Without the ending it might be another family's name.
    if (!metric.endsWith(TOTAL) || metrics.has(base)) return { metric, type: 'unknown' };
    return { metric: base, type: 'counter' };
  };
}

export function exemplarsByName(
  exemplars: readonly Exemplar[],
): ReadonlyMap<string, readonly Exemplar[]> {
  const byName = new Map<string, Exemplar[]>();
  for (const exemplar of exemplars) {
    const known = byName.get(exemplar.name);
    if (known === undefined) byName.set(exemplar.name, [exemplar]);
    else known.push(exemplar);
  }
  return byName;
}

/** The requests of one histogram, by the bucket that each falls into; the latest one of each. */
export function exemplarTexts(
  exemplars: readonly Exemplar[] | undefined,
  bounds: readonly number[],
): ReadonlyMap<number, string> {
  const latest = new Map<number, Exemplar>();
  for (const exemplar of exemplars ?? []) {
    const found = bounds.findIndex((bound) => exemplar.value <= bound);
    const bucket = found === -1 ? bounds.length : found;
    if ((latest.get(bucket)?.atMs ?? 0) <= exemplar.atMs) latest.set(bucket, exemplar);
  }
  return new Map([...latest].map(([bucket, exemplar]) => [bucket, exemplarText(exemplar)]));
}

function exemplarText({ traceId, value, atMs }: Exemplar): string {
  return ` # {trace_id="${escapeLabelValue(traceId)}"} ${value} ${(atMs / 1000).toFixed(3)}`;
}

/** A bound as a label's value: always with a point or an exponent. */
export function canonicalBound(text: string): string {
  return /^\d+$/.test(text) ? `${text}.0` : text;
}
