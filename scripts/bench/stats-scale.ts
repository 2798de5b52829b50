/**
 * How long the statistics pages take and what the store weighs with 10,000 clusters, in one process
 * and without a network: `node --expose-gc dist/scripts/bench/stats-scale.js [clusters]`.
 */
import { memoryUsage } from 'node:process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '../../shared/process/clock.ts';
import { CLUSTER, TRANSPORT_SOCKET_MATCH } from '../../shared/stats/templates/cluster.ts';
import { ALL_TEMPLATES } from '../../shared/stats/templates/all-templates.ts';
import { EndpointStats } from '../../supervisor/stats/endpoint-stats.ts';
import { OrderedView } from '../../supervisor/stats/ordered-view.ts';
import { StatStore } from '../../supervisor/stats/stat-store.ts';
import { StatsPages } from '../../supervisor/stats-output/stats-pages.ts';
import { DEFAULT_BUCKETS } from '../../supervisor/stats/stats-config.ts';
import { defaultTagRules } from '../../supervisor/stats/tags/default-tag-rules.ts';
import { TagExtractor } from '../../supervisor/stats/tags/tag-extractor.ts';
import { TagGroups } from '../../supervisor/stats/tags/tag-groups.ts';
import { WorkerShare } from '../../supervisor/stats/worker-share.ts';
import { parseQuery } from '../../supervisor/http-pages/query.ts';
import { WorkerStatStore } from '../../workers/stats/worker-stat-store.ts';

const clusters = Number(process.argv[2] ?? 10_000);
const mebibytes = (): number => {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, arrayBuffers } = memoryUsage();
  return (heapUsed + arrayBuffers) / 2 ** 20;
};

const before = mebibytes();
const store = new StatStore();
const filled = performance.now();
for (let n = 0; n < clusters; n++) {
  const base = store.defineBlock(CLUSTER, `cluster.service_${n}.`);
  store.setGauge(base + CLUSTER.index.membership_total, 1);
  store.setGauge(base + CLUSTER.index.membership_healthy, 1);
  store.defineBlock(TRANSPORT_SOCKET_MATCH, `cluster.service_${n}.default.`);
}
console.log(
  `supervisor: define ${clusters} clusters: ${(performance.now() - filled).toFixed(0)} ms`,
);
console.log(`supervisor: ${store.size} statistics, ${(mebibytes() - before).toFixed(1)} MiB`);

const beforeWorker = mebibytes();
const worker = new WorkerStatStore();
const share = new WorkerShare(store, new Map(ALL_TEMPLATES.map((one) => [one.id, one])));
const bases: number[] = [];
for (let n = 0; n < clusters; n++) bases.push(worker.defineBlock(CLUSTER, `cluster.service_${n}.`));
const applied = performance.now();
share.apply(worker.takeReport());
console.log(
  `one worker: ${(mebibytes() - beforeWorker).toFixed(1)} MiB with its share; first report ${(performance.now() - applied).toFixed(0)} ms`,
);
for (const base of bases.slice(0, 100)) {
  worker.increment(base + CLUSTER.index.upstream_rq_total);
  for (const code of ['200', '2xx', '503', '5xx']) {
    worker.increment(
      worker.defineCounter(`cluster.service_${bases.indexOf(base)}.upstream_rq_${code}`),
    );
  }
  worker.record(base + CLUSTER.index.upstream_cx_connect_ms, 3);
}
share.apply(worker.takeReport());
store.flushHistograms();

const pages = new StatsPages({
  store,
  view: new OrderedView(store),
  tagGroups: new TagGroups(new TagExtractor(defaultTagRules()), []),
  endpoints: new EndpointStats(store, () => [], []),
  clock: systemClock,
  boundsOf: () => DEFAULT_BUCKETS,
  dashboardStream: undefined,
  isEcmaScriptFilter: () => false,
  beforeRead: async () => Promise.resolve(),
  htmlForm: () => ({ status: 501, body: '' }),
});

async function time(path: string, query: string): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  for (let round = 1; round <= 3; round++) {
    delay.reset();
    delay.enable();
    const start = performance.now();
    const { body } = await pages.read(path, {
      query: parseQuery(query),
      accept: '',
      acceptEncoding: '',
    });
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<string>) bytes += Buffer.byteLength(chunk);
    const took = performance.now() - start;
    delay.disable();
    console.log(
      `${path}?${query} round ${round}: ${took.toFixed(0)} ms, ${(bytes / 1e6).toFixed(1)} MB, ` +
        `loop held at most ${(delay.max / 1e6).toFixed(1)} ms`,
    );
  }
}

await time('/stats', '');
await time('/stats', 'format=json');
await time('/stats', 'usedonly');
await time('/stats', 'filter=upstream_rq_total');
await time('/stats/prometheus', '');
await time('/stats/prometheus', 'usedonly');
console.log(`all: ${(mebibytes() - before).toFixed(1)} MiB`);

const counter = worker.defineCounter('bench.counter');
const rounds = 50_000_000;
const start = performance.now();
for (let n = 0; n < rounds; n++) worker.increment(counter);
console.log(`increment: ${(((performance.now() - start) * 1e6) / rounds).toFixed(2)} ns`);
