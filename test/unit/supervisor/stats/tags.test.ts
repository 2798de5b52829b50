import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce } from '../../../../supervisor/loop/loop-turns.ts';
import { defaultTagRules } from '../../../../supervisor/stats/tags/default-tag-rules.ts';
import { labelName, metricName } from '../../../../supervisor/stats/tags/prometheus-names.ts';
import { TagExtractor } from '../../../../supervisor/stats/tags/tag-extractor.ts';
import {
  configuredTag,
  fixedTag,
  regexTag,
  tokenTag,
} from '../../../../supervisor/stats/tags/tag-rule.ts';
import { recorded } from './recorded-store.ts';

test('names give the metrics and labels that Envoy printed', () => {
  const extractor = new TagExtractor(defaultTagRules());
  for (const line of recorded('tags.txt').trimEnd().split('\n')) {
    const space = line.indexOf(' ');
    const { name, tags } = extractor.extract(line.slice(0, space));
    const labels = tags.map(({ tag, value }) => `${labelName(tag)}="${value}"`).join(',');
    assert.equal(`${metricName(name)}{${labels}}`, line.slice(space + 1));
  }
});

const tokenCases: readonly (readonly [
  pattern: string,
  name: string,
  result: readonly [value: string, rest: string] | undefined,
])[] = [
  ['cluster.$.**', 'cluster.web.total', ['web', 'cluster.total']],
  ['cluster.$.**', 'cluster.web.a.b', ['web', 'cluster.a.b']],
  ['cluster.$.**', 'cluster.web', undefined],
  ['cluster.$.**', 'clusters.web.total', undefined],
  ['cluster.$.**', 'cluster..total', ['', 'cluster.total']],
  ['$.rbac.**', 'in.rbac.allowed', ['in', 'rbac.allowed']],
  ['a.*.$', 'a.b.c', ['c', 'a.b']],
  ['a.*.$', 'a.b.c.d', undefined],
  ['a.$.c', 'a.b.c', ['b', 'a.c']],
  ['a.$.c', 'a.b', undefined],
];
for (const [pattern, name, result] of tokenCases) {
  test(`the token rule ${pattern} makes of ${name}: ${result?.join(', ') ?? 'nothing'}`, () => {
    const { name: rest, tags } = new TagExtractor([tokenTag('t', pattern)]).extract(name);
    assert.deepEqual([tags[0]?.value, rest], result ?? [undefined, name]);
  });
}

test('the first group leaves the name, the second is the value', () => {
  const extract = (source: string, name: string): readonly [string, string | undefined] => {
    const result = new TagExtractor([regexTag('t', source)]).extract(name);
    return [result.name, result.tags[0]?.value];
  };
  assert.deepEqual(extract('^cluster\\.((.+?)\\.)', 'cluster.a.b'), ['cluster.b', 'a']);
  assert.deepEqual(extract('^cluster\\.(s\\w+\\.)', 'cluster.svc.b'), ['cluster.b', 'svc']);
  assert.deepEqual(extract('abc', 'abc'), ['abc', undefined]);
});

test('of two rules for one tag the first that matches wins and the other removes nothing', () => {
  const extractor = new TagExtractor([...defaultTagRules(), fixedTag('envoy.cluster_name', 'x')]);
  assert.deepEqual(extractor.extract('cluster.a.total'), {
    name: 'cluster.a.total',
    tags: [{ tag: 'envoy.cluster_name', value: 'x' }],
  });
});

test('ranges that two rules remove may overlap', () => {
  const rules = [regexTag('a', '(_rq_(\\d)xx)$'), regexTag('b', '_rq_((\\d))xx$')];
  assert.equal(new TagExtractor(rules).extract('x.up_rq_2xx').name, 'x.up');
});

test('statistics of files have no tags, fixed ones neither', () => {
  const extractor = new TagExtractor([fixedTag('region', 'eu'), regexTag('a', '(\\w+\\.)')]);
  const name = 'filesystem.write_failed';
  assert.deepEqual(extractor.extract(name), { name, tags: [] });
});

test('a regular expression that is none is refused', () => {
  assert.throws(() => regexTag('t', '('), SyntaxError);
  assert.throws(() => configuredTag('t', '('), SyntaxError);
});

test('expressions of the configuration take the same out of names, whatever runs them', () => {
  const cases = [
    ['^cluster\\.((.+?)\\.)', 'cluster.a.b', 'cluster.b', 'a'],
    ['^(?=cluster)\\w+\\.((.+?)\\.)', 'cluster.a.b', 'cluster.b', 'a'],
    ['(response_code=\\.=(.+?);\\.;)|_rq(_(\\d{3}))$', 'x.response_code=.=200;.;y', 'x.y', '200'],
    ['^a\\.|(b)', 'xb', 'x', 'b'],
    ['(é(.)\\.)', 'été.éa.b', 'été.b', 'a'],
    ['^((a.*?)\\.)', 'aöü.b', 'b', 'aöü'],
    ['(b)?a', 'a', 'a', undefined],
    ['(a)(b)?', 'xa', 'x', ''],
  ] as const;
  for (const [source, name, rest, value] of cases) {
    const found = new TagExtractor([configuredTag('t', source)]).extract(name);
    assert.deepEqual([found.name, found.tags[0]?.value], [rest, value], source);
  }
});

const LONG = 50_000;

/** After which one match is ended. */
const MATCH_MS = 10;
/** Far less than a backtracking engine takes, far more than a busy machine. */
const SHORT_MS = 400;

test('no expression of the configuration holds the loop with a long name', () => {
  const long = [
    `a${'ab'.repeat(LONG / 2)}`,
    'a'.repeat(LONG),
    '.a'.repeat(LONG / 2),
    `${'a'.repeat(60)}!`,
  ];
  const hostile = [
    '.*(a|b).*(c)',
    '(.*)(.*)(.*)(.*)zz',
    '(?=.*a)(.*)*z',
    '^(?=a)((a+)+)$',
    '(a*)*\\1z',
  ];
  for (const source of hostile) {
    const slow: string[] = [];
    const extractor = new TagExtractor(
      [configuredTag('t', source), configuredTag('u', '(b)')],
      (rule) => slow.push(rule.tag),
    );
    const before = process.cpuUsage();
    for (const name of long) extractor.extract(name);
    const { user } = process.cpuUsage(before);
    assert.ok(user / 1000 < SHORT_MS, `${source}: ${user / 1000} ms`);
    assert.equal(extractor.extract('a.b.c').tags.at(-1)?.tag, 'u');
  }
});

test('a rule that takes too long is left out, with a word of it, and the others stay', () => {
  const slow: string[] = [];
  const rules = [configuredTag('slow', '^(?=a)((a+)+)$'), configuredTag('other', '(b)')];
  const extractor = new TagExtractor(rules, (rule) => slow.push(rule.tag));
  const names = ['aa', `${'a'.repeat(60)}b`, 'ab'];
  assert.deepEqual(
    atOnce(extractor.extractAll(names)).map(({ tags }) => tags.map(({ tag }) => tag)),
    [['slow'], ['other'], ['other']],
  );
  assert.deepEqual(slow, ['slow']);
});

test('each step ends with the first match that takes too long', () => {
  const names = Array.from({ length: 40 }, (_, index) => `a.${index}`);
  const stuck = new TagExtractor([configuredTag('slow', '^(?=a)((a+)+)$')]);
  const steps = stuck.extractAll([...names, `${'a'.repeat(60)}b`, ...names]);
  let most = 0;
  for (;;) {
    const before = process.cpuUsage();
    const { done } = steps.next();
    most = Math.max(most, process.cpuUsage(before).user / 1000);
    if (done === true) break;
  }
  // Three such matches in a row were one step once.
  assert.ok(most < 2.5 * MATCH_MS, `${most} ms`);
});

test('our own expressions take linear time with every name', () => {
  const parts = [
    'listener',
    'cluster',
    'http',
    'rds',
    'ssl',
    'ciphers',
    'certificate',
    '_rq_2xx',
    'a',
  ];
  const rules = defaultTagRules();
  const extractor = new TagExtractor(rules);
  const before = process.cpuUsage();
  for (const first of parts) {
    for (const second of parts) {
      for (const third of parts) {
        extractor.extract(`${first}.x${`.${second}.${third}`.repeat(300)}`);
      }
    }
  }
  assert.ok(process.cpuUsage(before).user < 1_500_000);
});
