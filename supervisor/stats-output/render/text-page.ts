/**
 * `/stats` as text: text readouts, then counters and gauges, then histograms, each by name;
 * those of single hosts stand behind the other counters and gauges.
 */
import { escapeControls } from '../../../shared/logging/escape.ts';
import type { EndpointStats } from '../../stats/endpoint-stats.ts';
import type { Segment } from '../../stats/ordered-view.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import { addAll, PageText, statsPerStep, streamGroup } from './chunks.ts';
import { histogramText, type HistogramMode } from './histogram-text.ts';
import { selector, selectsGroup, type Selection } from '../../stats/selection.ts';

export interface TextPageOptions {
  readonly store: StatStore;
  readonly segments: readonly Segment[];
  readonly endpoints: EndpointStats;
  readonly selection: Selection;
  readonly histogramMode: HistogramMode;
  readonly boundsOf: (name: string) => readonly number[];
}

export function* textPage(options: TextPageOptions): Generator<string> {
  const { store, segments, endpoints, selection, histogramMode, boundsOf } = options;
  const selects = selector(store, selection);
  const text = new PageText();
  const listed = { segments, perStep: statsPerStep(selection) };
  if (selectsGroup(selection, 'texts')) {
    yield* streamGroup(listed, 'texts', text, (index, prefix, suffix) => {
      if (selects(index, prefix, suffix))
        text.add(`${prefix}${suffix}: "${escapeControls(store.textOf(index))}"\n`);
    });
  }
  if (selectsGroup(selection, 'scalars')) {
    yield* streamGroup(listed, 'scalars', text, (index, prefix, suffix) => {
      if (!selects(index, prefix, suffix)) return;
      text.add(prefix + suffix + ': ' + store.printedValue(index) + '\n');
    });
    yield* addAll(endpoints.selected(selection), text, ({ name, value }) => `${name}: ${value}\n`);
  }
  if (selectsGroup(selection, 'histograms')) {
    yield* streamGroup(listed, 'histograms', text, (index, prefix, suffix) => {
      if (!selects(index, prefix, suffix)) return;
      const name = prefix + suffix;
      text.add(`${name}:${histogramText(store.histogramOf(index), histogramMode, boundsOf(name))}`);
    });
  }
  yield text.take();
}
