/** The order of all statistics is made for pages whose clients are there, and for one of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER } from '../../../../shared/stats/templates/cluster.ts';
import { systemClock } from '../../../../shared/process/clock.ts';
import { parseQuery } from '../../../../supervisor/http-pages/query.ts';
import { StatsPages } from '../../../../supervisor/stats-output/stats-pages.ts';
import { EndpointStats } from '../../../../supervisor/stats/endpoint-stats.ts';
import { OrderedView } from '../../../../supervisor/stats/ordered-view.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { DEFAULT_BUCKETS } from '../../../../supervisor/stats/stats-config.ts';
import { TagExtractor } from '../../../../supervisor/stats/tags/tag-extractor.ts';
import { TagGroups } from '../../../../supervisor/stats/tags/tag-groups.ts';

const CLUSTERS = 500;
/** Fewer than the order takes. */
const PIECES = 50;

function makePages() {
  const store = new StatStore();
  for (let name = 0; name < CLUSTERS; name++) store.hold(CLUSTER, `cluster.c${name}.`);
  const view = new OrderedView(store);
  const pages = new StatsPages({
    store,
    view,
    tagGroups: new TagGroups(new TagExtractor([]), []),
    endpoints: new EndpointStats(store, () => [], []),
    clock: systemClock,
    boundsOf: () => DEFAULT_BUCKETS,
    dashboardStream: undefined,
    isEcmaScriptFilter: () => false,
    beforeRead: async () => Promise.resolve(),
    htmlForm: (_query, body) => ({ status: 200, body }),
  });
  const open = async (target: string): Promise<Iterator<string>> => {
    const [path = '', query = ''] = target.split('?');
    const question = { query: parseQuery(query), accept: '', acceptEncoding: '' };
    const { body } = await pages.read(path, question);
    return (body as Iterable<string>)[Symbol.iterator]();
  };
  return { view, open };
}

function countSteps(steps: Iterator<unknown>): number {
  let count = 1;
  while (steps.next().done !== true) count++;
  return count;
}

for (const target of [
  '/stats',
  '/stats?format=json',
  '/stats?format=html',
  '/stats/prometheus',
  '/stats/prometheus?prom_protobuf',
]) {
  test(`${target}: the order is not made for a client that is gone`, async () => {
    const whole = countSteps(makePages().view.inSteps());
    assert.ok(whole > PIECES + 10, `${whole} steps`);
    const { view, open } = makePages();
    const gone = await open(target);
    for (let piece = 0; piece < PIECES; piece++) gone.next();
    gone.return?.();
    for (let turn = 0; turn < whole; turn++) await new Promise((resolve) => setImmediate(resolve));
    // What was made is kept, and no more was.
    assert.equal(countSteps(view.inSteps()), whole - PIECES);
  });
}

test('a page goes on with the order that another has begun, and sinks take it whole', async () => {
  const { view, open } = makePages();
  const [left, right] = [await open('/stats'), await open('/stats/prometheus')];
  left.next();
  right.next();
  left.return?.();
  assert.equal((await view.segments()).length, CLUSTERS);
  let text = '';
  for (let piece = right.next(); piece.done !== true; piece = right.next()) text += piece.value;
  assert.match(text, /envoy_cluster_c499_upstream_rq_total\{\} 0\n/);
});
