/** Resolves `stats_config` and the flush settings. Source: envoy.config.metrics.v3. */
import type { Bootstrap } from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type {
  HistogramBucketSettings as BucketsMessage,
  StatsConfig as StatsConfigMessage,
  StatsMatcher as StatsMatcherMessage,
  TagSpecifier,
} from '../../../shared/api/generated/envoy/config/metrics/v3/stats.ts';
import type {
  HistogramBucketSetting,
  StatsConfig,
  StatsMatcher,
} from '../../stats/stats-config.ts';
import { defaultTagRules } from '../../stats/tags/default-tag-rules.ts';
import { fixedTag, regexTag, type TagRule } from '../../stats/tags/tag-rule.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveStringMatcher } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, float, optional } from '../values.ts';

const FIELDS = knownFields<StatsConfigMessage>([
  'stats_tags',
  'use_all_default_tags',
  'stats_matcher',
  'histogram_bucket_settings',
]);
const BUCKET_FIELDS = knownFields<BucketsMessage>(['match', 'buckets']);

const FLUSH_INTERVAL_MS = 5_000;

/** A tag with one value on every statistic, from `--stats-tag`. */
export interface UniversalTag {
  readonly name: string;
  readonly value: string;
}

export function resolveStatsConfig(
  bootstrap: Bootstrap,
  universalTags: readonly UniversalTag[],
  scope: Scope,
): StatsConfig {
  const message = bootstrap.stats_config ?? {};
  const place = scope.at('stats_config');
  refuseOtherFields(message, FIELDS, place);
  const flushOnAdmin = bootstrap.stats_flush_on_admin ?? false;
  if (flushOnAdmin && bootstrap.stats_flush_interval !== undefined) {
    scope.error(
      'conflict',
      'Only one of stats_flush_interval or stats_flush_on_admin should be set!',
    );
  }
  return {
    ...resolveTags(message, universalTags, place),
    ...optional('matcher', resolveMatcher(message.stats_matcher, place.at('stats_matcher'))),
    histogramBuckets: resolveBuckets(
      message.histogram_bucket_settings,
      place.at('histogram_bucket_settings'),
    ),
    flushIntervalMs: durationMsOr(bootstrap.stats_flush_interval, FLUSH_INTERVAL_MS),
    flushOnAdmin,
  };
}

function resolveTags(
  message: StatsConfigMessage,
  universalTags: readonly UniversalTag[],
  scope: Scope,
): Pick<StatsConfig, 'tagRules' | 'customTagRules'> {
  const defaults = defaultTagRules();
  const custom: TagRule[] = [];
  const byName: TagRule[] = [];
  for (const [index, specifier] of (message.stats_tags ?? []).entries()) {
    const rule = resolveTag(specifier, scope.at('stats_tags', index));
    if (rule !== undefined) custom.push(rule);
    if (rule === undefined && specifier.regex === undefined) {
      byName.push(...namedDefaults(defaults, specifier, scope.at('stats_tags', index)));
    }
  }
  for (const { name, value } of universalTags) custom.push(fixedTag(name, value));
  const usesAll = message.use_all_default_tags ?? true;
  return { tagRules: [...(usesAll ? defaults : byName), ...custom], customTagRules: custom };
}

/** Undefined for a default tag that is only named, and after a reported problem. */
function resolveTag(specifier: TagSpecifier, scope: Scope): TagRule | undefined {
  const { tag_name: name = '', fixed_value: value, regex } = specifier;
  if (value !== undefined) return fixedTag(name, value);
  if (regex === undefined || regex === '') return undefined;
  try {
    return regexTag(name, regex);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    scope.at('regex').error('regex', `Invalid regex '${regex}': ${cause}`);
    return undefined;
  }
}

function namedDefaults(
  defaults: readonly TagRule[],
  { tag_name: name = '' }: TagSpecifier,
  scope: Scope,
): readonly TagRule[] {
  const named = defaults.filter(({ tag }) => tag === name);
  if (named.length === 0) {
    scope.error(
      'reference',
      `No regex specified for tag specifier and no default regex for name: '${name}'`,
    );
  }
  return named;
}

function resolveMatcher(
  message: StatsMatcherMessage | undefined,
  scope: Scope,
): StatsMatcher | undefined {
  if (message === undefined) return undefined;
  // Rejecting all is accepting what matches none of no patterns.
  if (message.reject_all !== undefined) {
    return message.reject_all ? { action: 'accept', patterns: [] } : undefined;
  }
  const name = message.exclusion_list === undefined ? 'inclusion_list' : 'exclusion_list';
  const patterns = (message[name]?.patterns ?? []).map((pattern, index) =>
    resolveStringMatcher(pattern, scope.at(name, 'patterns', index)),
  );
  return {
    action: name === 'inclusion_list' ? 'accept' : 'reject',
    patterns: patterns.filter((pattern) => pattern !== undefined),
  };
}

function resolveBuckets(
  messages: readonly BucketsMessage[] | undefined,
  scope: Scope,
): readonly HistogramBucketSetting[] {
  const settings = (messages ?? []).map((message, index) => {
    const place = scope.at(index);
    refuseOtherFields(message, BUCKET_FIELDS, place);
    const match = resolveStringMatcher(message.match ?? {}, place.at('match'));
    const buckets = (message.buckets ?? []).map(float).sort((a, b) => a - b);
    return match === undefined ? undefined : { match, buckets };
  });
  return settings.filter((setting) => setting !== undefined);
}
