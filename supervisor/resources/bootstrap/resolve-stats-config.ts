/** Resolves what the bootstrap and `--stats-tag` say of statistics; see stats-config.ts. */
import type { Bootstrap } from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type {
  HistogramBucketSettings,
  StatsConfig as StatsConfigMessage,
  StatsMatcher as StatsMatcherMessage,
  TagSpecifier,
} from '../../../shared/api/generated/envoy/config/metrics/v3/stats.ts';
import { resolveStringMatcher } from '../matchers/string-matcher.ts';
import { Scope } from '../scope.ts';
import { durationMsOr, float, optional } from '../values.ts';
import { resolveSinks, type SinkDependencies } from './resolve-sinks.ts';
import { ecmaScriptReason } from '../../stats/name-filter.ts';
import type {
  HistogramBucketSetting,
  StatsConfig,
  StatsMatcher,
} from '../../stats/stats-config.ts';
import { defaultTagRules } from '../../stats/tags/default-tag-rules.ts';
import { configuredTag, fixedTag, type TagRule } from '../../stats/tags/tag-rule.ts';

export const DEFAULT_FLUSH_INTERVAL_MS = 5000;

export interface StatsDependencies extends SinkDependencies {
  /** From `--stats-tag`. */
  readonly statsTags: readonly { readonly name: string; readonly value: string }[];
}

/** `scope` is the bootstrap's. */
export function resolveStatsConfig(
  bootstrap: Bootstrap,
  dependencies: StatsDependencies,
  scope: Scope,
): StatsConfig {
  const message = bootstrap.stats_config ?? {};
  const place = scope.at('stats_config');
  // As in Envoy, which reads it before there is a runtime that would set a limit.
  const unlimited = new Scope({ ...scope.context, maxRegexProgramSize: Infinity }, place.place);
  const names = dependencies.statsTags.map(({ name }) => name);
  const commandLine = dependencies.statsTags
    .filter(({ name }, index) => names.indexOf(name) === index)
    .map(({ name, value }) => fixedTag(name, value));
  const configured = resolveTags(message, place);
  const custom = [
    ...commandLine,
    ...configured.filter(({ isDefault }) => !isDefault).map(({ rule }) => rule),
  ];
  return {
    tagRules: [...keptDefaults(message), ...commandLine, ...configured.map(({ rule }) => rule)],
    customTagRules: custom,
    ...optional('matcher', resolveMatcher(message.stats_matcher, unlimited.at('stats_matcher'))),
    histogramBuckets: (message.histogram_bucket_settings ?? []).flatMap((setting, index) =>
      resolveBuckets(setting, place.at('histogram_bucket_settings', index)),
    ),
    flushIntervalMs: durationMsOr(bootstrap.stats_flush_interval, DEFAULT_FLUSH_INTERVAL_MS),
    flushOnAdmin: bootstrap.stats_flush_on_admin ?? false,
    sinks: resolveSinks(bootstrap.stats_sinks ?? [], dependencies, scope.at('stats_sinks')),
  };
}

/** The default rules, without those that the configuration may replace. */
function keptDefaults(message: StatsConfigMessage): readonly TagRule[] {
  if (message.use_all_default_tags === false) return [];
  const defaults = defaultTagRules();
  if (message.allow_default_tag_overrides !== true) return defaults;
  const replaced = new Set((message.stats_tags ?? []).map(({ tag_name }) => tag_name));
  return defaults.filter(({ tag }) => !replaced.has(tag));
}

interface ConfiguredTag {
  readonly rule: TagRule;
  readonly isDefault: boolean;
}

function resolveTags(message: StatsConfigMessage, scope: Scope): ConfiguredTag[] {
  return (message.stats_tags ?? []).flatMap((tag, index) =>
    resolveTag(tag, scope.at('stats_tags', index)),
  );
}

function resolveTag(
  { tag_name: name = '', regex, fixed_value: fixedValue }: TagSpecifier,
  scope: Scope,
): ConfiguredTag[] {
  if (fixedValue !== undefined) return [{ rule: fixedTag(name, fixedValue), isDefault: false }];
  if (regex === undefined || regex === '') return defaultsNamed(name, scope);
  if (name === '') {
    scope.at('tag_name').error('conflict', 'tag_name cannot be empty');
    return [];
  }
  try {
    return [{ rule: configuredTag(name, regex), isDefault: false }];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    scope.at('regex').error('regex', `Invalid regex '${regex}': ${ecmaScriptReason(error)}`);
    return [];
  }
}

function defaultsNamed(name: string, scope: Scope): ConfiguredTag[] {
  const rules = defaultTagRules().filter(({ tag }) => tag === name);
  if (rules.length === 0) {
    scope.error(
      'reference',
      `No regex specified for tag specifier and no default regex for name: '${name}'`,
    );
  }
  return rules.map((rule) => ({ rule, isDefault: true }));
}

function resolveMatcher(
  message: StatsMatcherMessage | undefined,
  scope: Scope,
): StatsMatcher | undefined {
  if (message?.reject_all === true) return { action: 'accept', patterns: [] };
  const list = message?.inclusion_list ?? message?.exclusion_list;
  if (list === undefined) return undefined;
  const isInclusion = message?.inclusion_list !== undefined;
  const place = scope.at(isInclusion ? 'inclusion_list' : 'exclusion_list');
  return {
    action: isInclusion ? 'accept' : 'reject',
    patterns: (list.patterns ?? []).flatMap(
      (pattern, index) => resolveStringMatcher(pattern, place.at('patterns', index)) ?? [],
    ),
  };
}

/** `bins` is the room that a histogram begins with in Envoy; it shows nowhere. */
function resolveBuckets(
  { match, buckets }: HistogramBucketSettings,
  scope: Scope,
): readonly HistogramBucketSetting[] {
  const matcher = match === undefined ? undefined : resolveStringMatcher(match, scope.at('match'));
  if (matcher === undefined || buckets === undefined || buckets.length === 0) return [];
  return [{ match: matcher, buckets: buckets.map(float).sort((a, b) => a - b) }];
}
