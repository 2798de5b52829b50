import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
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
import { tokenTag } from '../../../../supervisor/stats/tags/tag-rule.ts';

const CLUSTERS = 500;
/** Fewer than the clusters are asked for in as many pieces. */
const PIECES = 100;

test('the families of a Prometheus page are not made for a client that is gone', async () => {
  const store = new StatStore();
  for (let name = 0; name < CLUSTERS; name++) store.hold(CLUSTER, `cluster.c${name}.`);
  const rules = [tokenTag('of', 'cluster.$.**')];
  const extractor = new TagExtractor(rules);
  const extracted = mock.method(extractor, 'extractAll');
  const pages = new StatsPages({
    store,
    view: new OrderedView(store),
    tagGroups: new TagGroups(extractor, rules),
    endpoints: new EndpointStats(store, () => [], []),
    clock: systemClock,
    boundsOf: () => DEFAULT_BUCKETS,
    dashboardStream: undefined,
    isEcmaScriptFilter: () => false,
    beforeRead: async () => Promise.resolve(),
    htmlForm: (_query, body) => ({ status: 200, body }),
  });
  const ask = async (): Promise<Iterator<string>> => {
    const question = { query: parseQuery(''), accept: '', acceptEncoding: '' };
    const { body } = await pages.read('/stats/prometheus', question);
    return (body as Iterable<string>)[Symbol.iterator]();
  };

  const gone = await ask();
  for (let piece = 0; piece < PIECES; piece++) gone.next();
  gone.return?.();
  const atItsEnd = extracted.mock.callCount();
  assert.ok(atItsEnd < CLUSTERS, `${atItsEnd} were made`);
  for (let turn = 0; turn < CLUSTERS; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(extracted.mock.callCount(), atItsEnd);

  // Another client has all of them, and what is made is not made again.
  let text = '';
  const pieces = await ask();
  for (let piece = pieces.next(); piece.done !== true; piece = pieces.next()) text += piece.value;
  assert.match(text, /\{of="c499"\} 0\n/);
  assert.equal(extracted.mock.callCount(), CLUSTERS);
});
