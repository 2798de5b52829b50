/**
 * Statistics of single hosts as metric families, which stand behind all others on a Prometheus
 * page.
 */
import { HOST } from '../../../shared/stats/templates/cluster.ts';
import { sortedInSteps } from '../../loop/loop-turns.ts';
import type { EndpointStats } from '../../stats/endpoint-stats.ts';
import { labelText, metricName } from '../../stats/tags/prometheus-names.ts';
import type { Family } from './prometheus-plan.ts';
import type { Selection } from '../../stats/selection.ts';

/** By the last part of their names. */
const HELP: ReadonlyMap<string, string> = new Map([
  ...HOST.stats.map(({ name, help }) => [name, help] as const),
  ['healthy', 'Whether the host is healthy'],
]);

interface EndpointSeries {
  readonly name: string;
  /** What stands between the braces. */
  readonly labels: string;
  readonly value: number;
}

export interface EndpointFamily extends Family {
  readonly series: readonly EndpointSeries[];
}

/** Counters before gauges, families and series by name. The pieces are empty. */
export function* endpointFamilies(
  endpoints: EndpointStats,
  selection: Selection,
): Generator<'', readonly EndpointFamily[], undefined> {
  const families = new Map<string, EndpointFamily & { readonly series: EndpointSeries[] }>();
  for (const selected of endpoints.selected(selection)) {
    yield '';
    if (selected === undefined) continue;
    const { name, kind, value, extracted } = selected;
    const metric = metricName(extracted.name);
    let family = families.get(metric);
    if (family === undefined) {
      family = {
        metric,
        kind,
        help: HELP.get(name.slice(name.lastIndexOf('.') + 1)) ?? '',
        members: [],
        series: [],
      };
      families.set(metric, family);
    }
    family.series.push({ name, labels: extracted.tags.map(labelText).join(','), value });
  }
  const sorted = [...families.values()].sort((a, b) =>
    a.kind === b.kind ? compare(a.metric, b.metric) : compare(a.kind, b.kind),
  );
  const ordered: EndpointFamily[] = [];
  for (const family of sorted) {
    const series = yield* sortedInSteps(family.series, (a, b) => compare(a.name, b.name));
    ordered.push({ ...family, series });
  }
  return ordered;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
