/**
 * `/stats/prometheus` as text, one contiguous block of lines per family: the exposition format 0.0.4,
 * or OpenMetrics, whose rules openmetrics.ts knows.
 */
import type { Exemplar } from '../../../shared/messages/exemplars.ts';
import type { EndpointStats } from '../../stats/endpoint-stats.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import { filledLabels, type LabelTemplate } from '../../stats/tags/tag-groups.ts';
import type { Exposition } from '../exposition.ts';
import { addAll, PageText, statsPerStep } from './chunks.ts';
import { endpointFamilies } from './endpoint-families.ts';
import { END_OF_OPENMETRICS, openMetricsTypes } from './openmetrics.ts';
import { PrometheusHistograms, type PrometheusHistogramMode } from './prometheus-histograms.ts';
import { escapeLabelValue } from '../../stats/tags/prometheus-names.ts';
import type { Family, GroupMember } from './prometheus-plan.ts';
import { selector, type Selection } from '../../stats/selection.ts';

export interface PrometheusPageOptions {
  readonly store: StatStore;
  readonly families: readonly Family[];
  readonly endpoints: EndpointStats;
  readonly selection: Selection;
  readonly textReadouts: boolean;
  readonly hasHelp: boolean;
  readonly histogramMode: PrometheusHistogramMode;
  readonly boundsOf: (name: string) => readonly number[];
  readonly exposition: Exposition;
  /** Printed in OpenMetrics. */
  readonly exemplars: readonly Exemplar[];
  readonly maxNativeBuckets: number;
}

/** Writes one statistic; `labels` is what stands between the braces. */
type WriteLine = (index: number, name: string, labels: string) => void;

/** Histograms in one step: each has two dozen lines. */
const HISTOGRAMS_PER_STEP = 16;
/** How most lines end. */
const ZERO_END = '} 0\n';

export function* prometheusPage(options: PrometheusPageOptions): Generator<string> {
  const text = new PageText();
  const histograms = new PrometheusHistograms(options, text);
  const ofEndpoints = yield* endpointFamilies(options.endpoints, options.selection);
  const headOf = headWriter([...options.families, ...ofEndpoints], options, histograms);
  for (const family of options.families) {
    if (family.kind === 'text_readout' && !options.textReadouts) continue;
    const head = headOf(family);
    const write = headedOnce(head, text, lineWriter(family, options, text, histograms));
    for (const range of stepsOf(family, options.selection)) {
      visitFamily(options, family, range, write);
      yield text.takeChunk();
    }
  }
  for (const family of ofEndpoints) {
    const { metric, series } = family;
    text.add(headOf(family));
    yield* addAll(series, text, ({ labels, value }) => `${metric}{${labels}} ${value}\n`);
  }
  if (options.exposition === 'openmetrics') text.add(END_OF_OPENMETRICS);
  yield text.take();
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** The parts of a family that are written in one step each. */
export function* stepsOf(family: Family, selection: Selection): Generator<Range> {
  const length = family.run?.blocks.length ?? family.members.length;
  const most = statsPerStep(selection);
  const perStep = family.kind === 'histogram' ? Math.min(most, HISTOGRAMS_PER_STEP) : most;
  for (let start = 0; start < length; start += perStep) {
    yield { start, end: Math.min(length, start + perStep) };
  }
}

function headWriter(
  families: readonly Family[],
  { hasHelp, exposition }: PrometheusPageOptions,
  histograms: PrometheusHistograms,
): (family: Family) => string {
  const typesOf =
    exposition === 'openmetrics'
      ? openMetricsTypes(families)
      : ({ metric }: Family) => ({ metric, type: undefined });
  return (family) => {
    const { metric, type = histograms.typeOf(family.kind) } = typesOf(family);
    const help = hasHelp && family.help !== '' ? `# HELP ${metric} ${family.help}\n` : '';
    return `${help}# TYPE ${metric} ${type}\n`;
  };
}

/** Most statistics of a block have the same labels: those are made once. */
function labelsOfMember(member: GroupMember, template: LabelTemplate): string {
  const { usual } = member;
  if (usual?.template === template) return usual.labels;
  const labels = filledLabels(template, member.values);
  if (usual === undefined) member.usual = { template, labels };
  return labels;
}

/** Puts the head before the family's first line; a family without lines has none. */
function headedOnce(head: string, text: PageText, write: WriteLine): WriteLine {
  let isHeaded = false;
  return (index, name, labels) => {
    if (!isHeaded) text.add(head);
    isHeaded = true;
    write(index, name, labels);
  };
}

function lineWriter(
  family: Family,
  { store }: PrometheusPageOptions,
  text: PageText,
  histograms: PrometheusHistograms,
): WriteLine {
  const { metric, kind } = family;
  switch (kind) {
    case 'counter':
    case 'gauge': {
      const start = [metric, '{'].join('');
      return (index, _name, labels) => {
        const value = store.printedValue(index);
        text.add(start + labels + (value === '0' ? ZERO_END : '} ' + value + '\n'));
      };
    }
    case 'text_readout':
      return (index, _name, labels) => {
        const separator = labels === '' ? '' : ',';
        const value = escapeLabelValue(store.textOf(index));
        text.add(`${metric}{${labels}${separator}text_value="${value}"} 0\n`);
      };
    case 'histogram':
      return (index, name, labels) => histograms.write(index, { metric, name, labels });
  }
}

/** Visits a part of a family's series: those that are selected. */
export function visitFamily(
  { store, selection }: PrometheusPageOptions,
  family: Family,
  { start, end }: Range,
  write: WriteLine,
): void {
  const selects = selector(store, selection);
  if (family.run === undefined) {
    for (let position = start; position < end; position++) {
      const member = family.members[position];
      if (member === undefined || !member.definition.live) continue;
      const { prefix, suffix } = member;
      const index = member.definition.base + member.offset;
      if (selects(index, prefix, suffix)) write(index, prefix + suffix, member.labels);
    }
    return;
  }
  const { blocks, offset, suffix, labels } = family.run;
  for (let position = start; position < end; position++) {
    const member = blocks[position];
    if (member === undefined || !member.block.live) continue;
    const prefix = member.block.name;
    const index = member.block.base + offset;
    if (!selects(index, prefix, suffix)) continue;
    write(index, prefix + suffix, labelsOfMember(member, labels));
  }
}
