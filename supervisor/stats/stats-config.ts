/**
 * What the bootstrap and the command line say of statistics, checked and resolved. Source:
 * envoy.config.metrics.v3.StatsConfig and the `stats_flush_*` fields of the bootstrap.
 */
import type { StringMatcher } from '../../shared/resources/routes/matchers.ts';
import type { SinkConfig } from './sink-config.ts';
import type { TagRule } from './tags/tag-rule.ts';

export interface StatsConfig {
  /** In the order in which they apply; rules without a first token come first on every name. */
  readonly tagRules: readonly TagRule[];
  /** Those of them that are not default rules. */
  readonly customTagRules: readonly TagRule[];
  /** Absent: every statistic exists. */
  readonly matcher?: StatsMatcher;
  /** The first entry that matches a histogram's name decides its buckets. */
  readonly histogramBuckets: readonly HistogramBucketSetting[];
  readonly flushIntervalMs: number;
  readonly sinks: readonly SinkConfig[];
  /** Statistics are flushed by each read of `/stats` and by no timer. */
  readonly flushOnAdmin: boolean;
}

export interface StatsMatcher {
  /** `reject` keeps what no pattern matches, `accept` what any pattern matches. */
  readonly action: 'accept' | 'reject';
  readonly patterns: readonly StringMatcher[];
}

export interface HistogramBucketSetting {
  readonly match: StringMatcher;
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

/** Upper bounds of histogram buckets where the configuration names none. */
export const DEFAULT_BUCKETS: readonly number[] = [
  0.5, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000, 600_000,
  1_800_000, 3_600_000,
];
