import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bootstrap } from '../../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import { formatPlace, type Problem } from '../../../../supervisor/config/problem.ts';
import { Scope } from '../../../../supervisor/resources/scope.ts';
import { acceptedNames, bucketBounds } from '../../../../supervisor/stats/name-matcher.ts';
import { resolveStatsConfig } from '../../../../supervisor/resources/bootstrap/resolve-stats-config.ts';
import type { StatsConfig } from '../../../../supervisor/stats/stats-config.ts';
import { TagExtractor } from '../../../../supervisor/stats/tags/tag-extractor.ts';

interface Resolved {
  readonly config: StatsConfig;
  readonly problems: readonly string[];
}

function resolve(
  bootstrap: Bootstrap,
  tags: readonly { name: string; value: string }[] = [],
): Resolved {
  const problems: string[] = [];
  const scope = new Scope({
    problems: {
      report: ({ place, message }: Problem) =>
        void problems.push(`${formatPlace(place)}: ${message}`),
    },
    maxRegexProgramSize: 100,
  });
  return {
    config: resolveStatsConfig(
      bootstrap,
      { statsTags: tags, clusters: new Set(['statsd']), node: { id: 'n', cluster: 'c' } },
      scope,
    ),
    problems,
  };
}

function labels(config: StatsConfig, name: string): string {
  const { name: rest, tags } = new TagExtractor(config.tagRules).extract(name);
  return `${rest} ${tags.map(({ tag, value }) => `${tag}=${value}`).join(',')}`;
}

test('tags of the command line, then of the file, stand before what a first token gives', () => {
  const { config, problems } = resolve(
    {
      stats_config: {
        stats_tags: [
          { tag_name: 'vh', regex: '^http(?=\\.).*?\\.route\\.((.*?)\\.)' },
          { tag_name: 'my_cluster', regex: '^cluster\\.((.+?)\\.)' },
          { tag_name: 'region', fixed_value: 'eu1' },
        ],
      },
    },
    [{ name: 'stage', value: 'test' }],
  );
  assert.deepEqual(problems, []);
  assert.equal(
    labels(config, 'cluster.svc.upstream_rq_503'),
    'cluster.upstream_rq envoy.response_code=503,stage=test,region=eu1,envoy.cluster_name=svc,my_cluster=svc',
  );
});

test('use_all_default_tags: false leaves only the tags that are named', () => {
  const { config } = resolve({
    stats_config: {
      use_all_default_tags: false,
      stats_tags: [{ tag_name: 'envoy.cluster_name' }],
    },
  });
  assert.equal(labels(config, 'cluster.a.rq_200'), 'cluster.rq_200 envoy.cluster_name=a');
});

test('a wrong tag is an error with its place', () => {
  const { problems } = resolve({
    stats_config: {
      stats_tags: [
        { tag_name: 'a', regex: '(' },
        { tag_name: 'b' },
        { tag_name: '', regex: '(x)' },
      ],
    },
  });
  assert.deepEqual(problems, [
    "stats_config.stats_tags[0].regex: Invalid regex '(': The expression contained mismatched ( and ).",
    "stats_config.stats_tags[1]: No regex specified for tag specifier and no default regex for name: 'b'",
    'stats_config.stats_tags[2].tag_name: tag_name cannot be empty',
  ]);
});

test('inclusion and exclusion lists decide which statistics exist', () => {
  const accepts = (stats_matcher: NonNullable<Bootstrap['stats_config']>['stats_matcher']) =>
    acceptedNames(
      resolve({ stats_config: stats_matcher === undefined ? {} : { stats_matcher } }).config
        .matcher,
    );
  assert.equal(accepts(undefined), undefined);
  assert.equal(accepts({ reject_all: true })?.('a'), false);
  const patterns = [
    { prefix: 'listener.' },
    { suffix: '_MS', ignore_case: true },
    { safe_regex: { regex: 'c.*d' } },
  ];
  const names = ['listener.a', 'x_ms', 'cd', 'acd', 'é'];
  assert.deepEqual(
    names.map((name) => accepts({ inclusion_list: { patterns } })?.(name)),
    [true, true, true, false, false],
  );
  assert.deepEqual(
    names.map((name) => accepts({ exclusion_list: { patterns } })?.(name)),
    [false, false, false, true, true],
  );
});

test('the first bucket setting that matches a histogram decides, sorted', () => {
  const { config } = resolve({
    stats_config: {
      histogram_bucket_settings: [
        { match: { suffix: '_ms' }, buckets: [5, 0.1] },
        { match: { prefix: 'a' }, buckets: [1] },
      ],
    },
  });
  const bounds = bucketBounds(config.histogramBuckets);
  assert.deepEqual([bounds('a_ms'), bounds('ab')], [[0.1, 5], [1]]);
  assert.equal(bounds('b').length, 19);
});

test('bins changes nothing that can be seen, and an entry with bins alone decides nothing', () => {
  const match = { prefix: 'a' };
  const { config, problems } = resolve({
    stats_config: {
      histogram_bucket_settings: [
        { match, bins: 5 },
        { match, buckets: [1, 2], bins: 300 },
      ],
    },
  });
  assert.deepEqual([problems, bucketBounds(config.histogramBuckets)('a_ms')], [[], [1, 2]]);
});

test('the flush interval is 5 s unless the file says otherwise', () => {
  const { config } = resolve({});
  assert.deepEqual([config.flushIntervalMs, config.flushOnAdmin], [5000, false]);
  assert.equal(resolve({ stats_flush_interval: '0.300s' }).config.flushIntervalMs, 300);
  assert.equal(resolve({ stats_flush_on_admin: true }).config.flushOnAdmin, true);
});
