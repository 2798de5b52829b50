import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { fixedTag } from '../../../../supervisor/stats/tags/tag-rule.ts';
import { CLUSTER, TRANSPORT_SOCKET_MATCH } from '../../../../shared/stats/templates/cluster.ts';
import { LISTENER, LISTENER_WORKER } from '../../../../shared/stats/templates/listener.ts';
import { recorded, recordedStore } from './recorded-store.ts';
import { ask, pagesOf, read } from './ask-pages.ts';

const recordings: readonly (readonly [file: string, path: string, query: string])[] = [
  ['summary.txt', '/stats', ''],
  ['summary.txt', '/stats', 'histogram_buckets=none'],
  ['detailed.txt', '/stats', 'histogram_buckets=detailed'],
  ['cumulative.txt', '/stats', 'histogram_buckets=cumulative'],
  ['disjoint.txt', '/stats', 'histogram_buckets=disjoint'],
  ['used.txt', '/stats', 'usedonly'],
  ['gauges.txt', '/stats', 'type=Gauges'],
  ['summary.json', '/stats', 'format=json'],
  ['detailed.json', '/stats', 'format=json&histogram_buckets=detailed'],
  ['cumulative.json', '/stats', 'format=json&histogram_buckets=cumulative'],
  ['disjoint.json', '/stats', 'format=json&histogram_buckets=disjoint'],
  ['buckets.prom', '/stats/prometheus', ''],
  ['buckets.prom', '/stats', 'format=prometheus&histogram_buckets=cumulative'],
  ['summary.prom', '/stats/prometheus', 'histogram_buckets=summary'],
];

for (const [file, path, query] of recordings) {
  test(`${path}?${query} is what Envoy printed`, async () => {
    assert.equal(await read(pagesOf(recordedStore()), path, query), recorded(file));
  });
}

const refusals: readonly (readonly [query: string, body: string])[] = [
  ['filter=%28', 'Invalid re2 regex: missing ): ('],
  ['filter=[&type=Bad', 'Invalid re2 regex: missing ]: ['],
  [
    'histogram_buckets=x&type=Bad',
    'usage: /stats?histogram_buckets=(cumulative|disjoint|detailed|summary|prometheusnative)\n',
  ],
  ['type=counters&hidden=x', 'invalid &type= param'],
  ['hidden=x&format=x', 'usage: /stats?hidden=(include|only|exclude)\n\n'],
  ['format=xml', 'usage: /stats?format=(html|active-html|json|prometheus|text)\n\n'],
  [
    'histogram_buckets=prometheusnative',
    'Invalid histogram_buckets type for non prometheus stats type',
  ],
  ['format=prometheus&histogram_buckets=disjoint', 'unsupported prometheus histogram bucket mode'],
  [
    'format=prometheus&histogram_buckets=prometheusnative',
    'unsupported prometheusnative histogram type when not using protobuf exposition format',
  ],
];

for (const [query, body] of refusals) {
  test(`/stats?${query} is refused in Envoy's words`, async () => {
    const answer = await pagesOf(new StatStore()).read('/stats', ask(query));
    assert.deepEqual([answer.status, answer.body], [400, body]);
  });
}

test('empty parameters count as absent', async () => {
  const store = new StatStore();
  store.defineCounter('a.b');
  const query = 'filter=&type=&hidden=&format=&histogram_buckets=';
  assert.equal(await read(pagesOf(store), '/stats', query), 'a.b: 0\n');
});

test('blocks, nested blocks and named statistics come in one order of names', async () => {
  const store = new StatStore();
  store.defineBlock(LISTENER, 'listener.b.');
  store.defineBlock(LISTENER_WORKER, 'listener.b.worker_0.');
  store.defineBlock(TRANSPORT_SOCKET_MATCH, 'cluster.a.default.');
  store.defineBlock(CLUSTER, 'cluster.a.');
  store.defineBlock(CLUSTER, 'cluster.a.b.');
  store.defineBlock(CLUSTER, 'cluster.a-b.');
  for (const name of [
    'cluster.a.upstream_rq_200',
    'cluster.z',
    'listener.b.x',
    'cluster',
    'downstream',
  ]) {
    store.defineCounter(name);
  }
  const names = (await read(pagesOf(store), '/stats', 'type=Counters'))
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/: .*/, ''));
  assert.deepEqual(names, [...names].sort());
  assert.equal(new Set(names).size, names.length);
});

test('statistics that go while a page is written are left out of its rest', async () => {
  const store = new StatStore();
  const bases = Array.from({ length: 2000 }, (_, n) =>
    store.defineBlock(CLUSTER, `cluster.c${n}.`),
  );
  const { body } = await pagesOf(store).read('/stats', ask(''));
  let text = '';
  for (const chunk of body as Iterable<string>) {
    const isFirst = text === '' && chunk !== '';
    if (isFirst) bases.slice(1000).forEach((base) => store.releaseBlock(base));
    text += chunk;
  }
  const clusters = new Set(text.split('\n').map((line) => line.split('.')[1]));
  assert.ok(clusters.size < 1100, `${clusters.size} clusters`);
});

test('usedonly, filter, invert_filter and hidden choose statistics', async () => {
  const store = new StatStore();
  store.increment(store.defineCounter('a.used'));
  store.defineCounter('a.unused');
  store.setGauge(store.defineGauge('b.zero'), 0);
  const pages = pagesOf(store);
  assert.equal(await read(pages, '/stats', 'usedonly'), 'a.used: 1\nb.zero: 0\n');
  assert.equal(await read(pages, '/stats', 'filter=used$'), 'a.unused: 0\na.used: 1\n');
  assert.equal(await read(pages, '/stats', 'filter=^a&invert_filter'), 'b.zero: 0\n');
  assert.equal(await read(pages, '/stats', 'hidden=only'), '');
});

test('text readouts come first, quoted, and on the Prometheus page only on request', async () => {
  const store = new StatStore();
  store.defineCounter('cluster.a.x');
  store.setTextReadout('cluster.a.version_text', 'v"1"');
  const pages = pagesOf(store);
  assert.equal(await read(pages, '/stats'), 'cluster.a.version_text: "v"1""\ncluster.a.x: 0\n');
  assert.equal(
    await read(pages, '/stats', 'format=json'),
    '{"stats":[{"name":"cluster.a.version_text","value":"v\\"1\\""},{"name":"cluster.a.x","value":0}]}',
  );
  assert.doesNotMatch(await read(pages, '/stats/prometheus'), /version_text/);
  assert.match(
    await read(pages, '/stats/prometheus', 'text_readouts'),
    /^# TYPE envoy_cluster_version_text gauge\nenvoy_cluster_version_text\{envoy_cluster_name="a",text_value="v\\"1\\""\} 0$/m,
  );
});

test('each metric family is contiguous with one TYPE line and no series comes twice', async () => {
  const store = new StatStore();
  for (const name of ['a', 'b', 'a.x', 'c-d', 'c_d', 'out|80||x.svc']) {
    store.defineBlock(CLUSTER, `cluster.${name}.`);
    store.defineCounter(`cluster.${name}.upstream_rq_200`);
  }
  store.defineCounter('http.p.one-two');
  store.defineCounter('http.p.one_two');
  const lines = (await read(pagesOf(store), '/stats/prometheus')).trimEnd().split('\n');
  const types = lines.filter((line) => line.startsWith('#'));
  assert.equal(new Set(types).size, types.length);
  const series = lines.filter((line) => !line.startsWith('#')).map((line) => line.split('} ')[0]);
  assert.equal(new Set(series).size, series.length);
  let family = '';
  for (const line of lines) {
    if (line.startsWith('# TYPE ')) family = line.split(' ')[2] ?? '';
    else assert.match(line, new RegExp(`^${family}(_bucket|_sum|_count)?\\{`));
  }
});

test('fixed tags stand behind the response code and before what the name gives', async () => {
  const store = new StatStore();
  store.defineCounter('cluster.a.upstream_rq_503');
  assert.equal(
    await read(pagesOf(store, [fixedTag('stage', 'te"st')]), '/stats/prometheus'),
    '# TYPE envoy_cluster_upstream_rq counter\n' +
      'envoy_cluster_upstream_rq{envoy_response_code="503",stage="te\\"st",envoy_cluster_name="a"} 0\n',
  );
});

test('/stats/recentlookups counts always and names what was looked up while it is enabled', async () => {
  const store = new StatStore();
  const pages = pagesOf(store);
  store.defineCounter('a');
  assert.equal(
    await read(pages, '/stats/recentlookups'),
    'Lookup tracking is not enabled. Use /stats/recentlookups/enable to enable.\n\ntotal: 1\n',
  );
  assert.deepEqual(pages.recentLookups('enable'), { status: 200, body: 'OK\n' });
  store.defineCounter('a');
  store.defineCounter('a');
  store.defineCounter('b');
  const listed = '   Count Lookup\n       1 b\n       2 a\n\ntotal: 4\n';
  assert.equal(await read(pages, '/stats/recentlookups'), listed);
  pages.recentLookups('clear');
  assert.equal(await read(pages, '/stats/recentlookups'), '   Count Lookup\n\ntotal: 0\n');
  store.defineCounter('a');
  pages.recentLookups('disable');
  assert.match(await read(pages, '/stats/recentlookups'), /not enabled.*\n\ntotal: 1\n$/s);
});

test('resetting counters leaves gauges and histograms', async () => {
  const store = new StatStore();
  store.add(store.defineCounter('c'), 5);
  store.setGauge(store.defineGauge('g'), 5);
  const pages = pagesOf(store);
  await pages.resetCounters();
  assert.equal(await read(pages, '/stats', 'usedonly'), 'c: 0\ng: 5\n');
});

test('filter is ECMAScript syntax on request', async () => {
  const store = new StatStore();
  store.defineCounter('a.b_1');
  const pages = pagesOf(store, [], { isEcmaScript: true });
  assert.equal(await read(pages, '/stats', 'filter=\\.b_\\d$'), 'a.b_1: 0\n');
  assert.equal(
    await read(pages, '/stats', 'filter=('),
    "Invalid regex '(': The expression contained mismatched ( and ).",
  );
  assert.equal(await read(pages, '/stats', 'filter=a(?=\\.b)'), 'a.b_1: 0\n');
});

test('a filter that backtracks is ended, and the loop goes on meanwhile', async () => {
  const store = new StatStore();
  store.defineCounter(`${'a'.repeat(60)}.b`);
  let turns = 0;
  const ticking = setInterval(() => turns++, 5);
  const answer = await read(
    pagesOf(store, [], { isEcmaScript: true }),
    '/stats',
    'filter=^(?=a)(a%2B)%2B$',
  );
  clearInterval(ticking);
  assert.match(answer, /^Invalid regex '.*': it takes too long\n$/);
  assert.ok(turns > 0);
});

test('help lines are printed on request, before the type and with the text of the template', async () => {
  const store = new StatStore();
  store.defineBlock(TRANSPORT_SOCKET_MATCH, 'cluster.a.default.');
  assert.equal(
    await read(pagesOf(store), '/stats/prometheus', 'help'),
    '# HELP envoy_cluster_default_total_match_count Hosts that use this transport socket\n' +
      '# TYPE envoy_cluster_default_total_match_count counter\n' +
      'envoy_cluster_default_total_match_count{envoy_cluster_name="a"} 0\n',
  );
});

test('statistics that appear by name have help lines, too', async () => {
  const store = new StatStore();
  store.defineCounter('cluster.a.upstream_rq_503');
  store.defineGauge('other');
  const page = await read(pagesOf(store), '/stats/prometheus', 'help');
  assert.match(page, /^# HELP envoy_cluster_upstream_rq Answers, by code$/m);
  assert.match(page, /^# HELP envoy_other A gauge that appears by name$/m);
});

for (const [accepted, isGzipped] of [
  ['br, gzip;q=0.5', true],
  ['*', true],
  ['br', undefined],
] as const) {
  test(`a page asked for compressed is ${isGzipped ? '' : 'not '}so for ${accepted}`, async () => {
    const question = { ...ask('gzip'), acceptEncoding: accepted };
    assert.equal((await pagesOf(recordedStore()).read('/stats', question)).isGzipped, isGzipped);
  });
}
