/** The last two minutes of traffic, and the last minute of each host. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER, HOST } from '../../../../shared/stats/templates/cluster.ts';
import {
  HTTP_CONNECTION_MANAGER,
  ROUTER,
} from '../../../../shared/stats/templates/http-connection-manager.ts';
import { LISTENER_WORKER } from '../../../../shared/stats/templates/listener.ts';
import { atOnce, LoopTurns } from '../../../../supervisor/loop/loop-turns.ts';
import { TrafficHistory } from '../../../../supervisor/recent/traffic-history.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { locateHost } from '../../../../supervisor/upstreams/hosts/locate-host.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const MANAGER = HTTP_CONNECTION_MANAGER.index;
const CLUSTERS = new Map([
  ['web', new Set(['10.0.0.1:80'])],
  ['web.v2', new Set(['10.0.0.1:80', '10.0.0.2:80'])],
]);

interface Tried {
  readonly store: StatStore;
  readonly history: TrafficHistory;
  /** Five seconds go by. */
  readonly pass: () => Promise<void>;
}

function begin(): Tried {
  const store = new StatStore();
  const clock = new ManualClock();
  const history = new TrafficHistory({
    store,
    clock,
    turns: new LoopTurns(),
    collect: () => Promise.resolve(),
    locate: (prefix) =>
      locateHost(prefix, {
        get: (name) => {
          const hosts = CLUSTERS.get(name);
          return hosts && { host: (id) => (hosts.has(id) ? id : undefined) };
        },
      }),
    onFailure: assert.ifError,
  });
  return {
    store,
    history,
    pass: async () => {
      clock.pass(5000);
      await history.sample();
    },
  };
}

function active(history: TrafficHistory) {
  return [...history.activeHosts()].filter((each) => each !== undefined);
}

test('each interval says what managers gained, whatever they counted before', async () => {
  const { store, history, pass } = begin();
  const web = store.defineBlock(HTTP_CONNECTION_MANAGER, 'http.web.');
  const admin = store.defineBlock(HTTP_CONNECTION_MANAGER, 'http.admin.');
  const router = store.defineBlock(ROUTER, 'http.web.');
  store.add(web + MANAGER.downstream_rq_total, 1000);
  await pass();
  assert.deepEqual(history.intervals(), []);
  store.add(web + MANAGER.downstream_rq_total, 7);
  store.add(admin + MANAGER.downstream_rq_total, 500);
  store.add(web + MANAGER.downstream_rq_4xx, 2);
  store.add(web + MANAGER.downstream_rq_5xx, 1);
  store.add(router + ROUTER.index.no_route, 2);
  store.add(web + MANAGER.downstream_cx_active, 3);
  await pass();
  const interval = { seconds: 5, clientErrors: 2, serverErrors: 1, unrouted: 2, connections: 3 };
  assert.deepEqual(history.intervals(), [{ ...interval, requests: 7 }]);
  store.resetCounters();
  store.add(web + MANAGER.downstream_rq_total, 4);
  for (let count = 0; count < 30; count++) await pass();
  assert.equal(history.intervals().length, 24);
  assert.equal(
    history.intervals().reduce((sum, { requests }) => sum + requests, 0),
    0,
  );
});

test('after a reset of the counters an interval has what was counted since', async () => {
  const { store, history, pass } = begin();
  const web = store.defineBlock(HTTP_CONNECTION_MANAGER, 'http.web.');
  store.add(web + MANAGER.downstream_rq_total, 10);
  await pass();
  store.resetCounters();
  store.add(web + MANAGER.downstream_rq_total, 4);
  await pass();
  assert.equal(history.intervals().at(-1)?.requests, 4);
});

test('a host tells the last minute, with what came since the last interval', async () => {
  const { store, history, pass } = begin();
  await pass();
  const base = store.defineBlock(HOST, 'host.web.v2.10.0.0.2:80.');
  store.add(base + HOST.index.rq_total, 4);
  store.add(base + HOST.index.rq_error, 1);
  store.add(base + HOST.index.rq_timed, 2);
  store.add(base + HOST.index.rq_took_ms, 30);
  const minute = { cluster: 'web.v2', host: '10.0.0.2:80', errors: 1, connectFailures: 0 };
  const first = [{ ...minute, requests: 4, meanMs: 15 }];
  assert.deepEqual(active(history), first);
  for (let count = 0; count < 11; count++) await pass();
  store.add(base + HOST.index.rq_total, 1);
  assert.deepEqual(active(history), [{ ...minute, requests: 5, meanMs: 15 }]);
  await pass();
  await pass();
  const later = { cluster: 'web.v2', host: '10.0.0.2:80', errors: 0, connectFailures: 0 };
  assert.deepEqual(active(history), [{ ...later, requests: 1, meanMs: undefined }]);
  for (let count = 0; count < 12; count++) await pass();
  assert.deepEqual(active(history), []);
});

test('a host that is gone is not told of; clusters with hosts out of service are', async () => {
  const { store, history, pass } = begin();
  const cluster = store.defineBlock(CLUSTER, 'cluster.web.');
  const host = store.defineBlock(HOST, 'host.web.10.0.0.1:80.');
  store.setGauge(cluster + CLUSTER.index.membership_total, 3);
  store.setGauge(cluster + CLUSTER.index.membership_healthy, 2);
  await pass();
  store.add(host + HOST.index.cx_connect_fail, 1);
  assert.deepEqual(
    active(history).map(({ connectFailures }) => connectFailures),
    [1],
  );
  assert.deepEqual(history.sickClusters(), ['web']);
  store.releaseBlock(host);
  store.setGauge(cluster + CLUSTER.index.membership_healthy, 3);
  await pass();
  assert.deepEqual(active(history), []);
  assert.deepEqual(history.sickClusters(), []);
});

test('connections are summed over listeners for each worker', () => {
  const { store, history } = begin();
  const open = [
    ['listener.a.worker_0.', 40],
    ['listener.b.worker_0.', 2],
    ['listener.worker_1.x.worker_1.', 3],
    ['listener.admin.main_thread.', 9],
  ] as const;
  for (const [prefix, count] of open) {
    const base = store.defineBlock(LISTENER_WORKER, prefix);
    store.setGauge(base + LISTENER_WORKER.index.downstream_cx_active, count);
  }
  assert.deepEqual(
    [...atOnce(history.openByWorker())],
    [
      [0, 42],
      [1, 3],
    ],
  );
});
