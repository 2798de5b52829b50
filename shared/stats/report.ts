/**
 * What a worker says of its statistics on each flush. Indices are the worker's own: the supervisor
 * maps them through the definitions it was sent, so nothing is shared but the templates.
 */
import type { StatKind } from './template.ts';

export interface BlockDefinition {
  readonly base: number;
  readonly template: string;
  readonly prefix: string;
}

/** A statistic that appeared by name, such as `cluster.web.upstream_rq_503`. */
export interface NamedDefinition {
  readonly index: number;
  readonly kind: Exclude<StatKind, 'text_readout'>;
  readonly name: string;
}

/**
 * One flush. Counters and gauges travel as (index, delta) pairs since the last report, histograms
 * as (index, bucket, count) triples; all three arrays are flat.
 */
export interface StatsReport {
  readonly blocks: readonly BlockDefinition[];
  readonly named: readonly NamedDefinition[];
  /**
   * Blocks and named statistics that went away (base indices), maybe before `blocks` has them
   * again.
   */
  readonly released: readonly number[];
  readonly deltas: readonly number[];
  readonly histograms: readonly number[];
}

export const EMPTY_REPORT: StatsReport = {
  blocks: [],
  named: [],
  released: [],
  deltas: [],
  histograms: [],
};
