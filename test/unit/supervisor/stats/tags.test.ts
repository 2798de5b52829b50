import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultTagRules } from '../../../../supervisor/stats/tags/default-tag-rules.ts';
import { labelName, metricName } from '../../../../supervisor/stats/tags/prometheus-names.ts';
import { TagExtractor } from '../../../../supervisor/stats/tags/tag-extractor.ts';
import { fixedTag, regexTag, tokenTag } from '../../../../supervisor/stats/tags/tag-rule.ts';
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
});
