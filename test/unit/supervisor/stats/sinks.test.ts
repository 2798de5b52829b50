import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { systemClock } from '../../../../shared/process/clock.ts';
import { CLUSTER } from '../../../../shared/stats/templates/cluster.ts';
import { DISPATCHER } from '../../../../shared/stats/templates/server.ts';
import { EndpointStats } from '../../../../supervisor/stats/endpoint-stats.ts';
import { LoopTurns } from '../../../../supervisor/loop/loop-turns.ts';
import { OrderedView } from '../../../../supervisor/stats/ordered-view.ts';
import { DashboardSink } from '../../../../supervisor/stats-output/sinks/dashboard-sink.ts';
import {
  takeSnapshot,
  type FlushSnapshot,
} from '../../../../supervisor/stats-output/sinks/flush-snapshot.ts';
import {
  plainNames,
  statsdLines,
  taggedNames,
} from '../../../../supervisor/stats-output/sinks/statsd-lines.ts';
import { TcpStatsdSink } from '../../../../supervisor/stats-output/sinks/tcp-statsd-sink.ts';
import { DatagramStatsdSink } from '../../../../supervisor/stats-output/sinks/datagram-statsd-sink.ts';
import { DEFAULT_BUCKETS } from '../../../../supervisor/stats/stats-config.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { defaultTagRules } from '../../../../supervisor/stats/tags/default-tag-rules.ts';
import { TagExtractor } from '../../../../supervisor/stats/tags/tag-extractor.ts';

class SinkStore extends StatStore {
  readonly latch = this.makeLatch();
}

async function snapshotOf(store: SinkStore): Promise<FlushSnapshot> {
  const segments = await new OrderedView(store).segments();
  const endpoints = new EndpointStats(store, () => [], []);
  const boundsOf = (): readonly number[] => DEFAULT_BUCKETS;
  return takeSnapshot({ store, segments, endpoints, latch: store.latch, boundsOf });
}

test('counters are sent as gains, gauges as values, histograms as their values', async () => {
  const store = new SinkStore();
  const counter = store.defineCounter('cluster.a.upstream_rq_200');
  const time = store.defineHistogram('cluster.a.upstream_rq_time');
  store.setGauge(store.defineGauge('server.live'), 1);
  store.defineCounter('cluster.a.unused');
  store.add(counter, 3);
  [0, 7, 7].forEach((value) => store.record(time, value));
  store.flushHistograms();
  const first = await snapshotOf(store);
  assert.deepEqual(
    [...statsdLines(first, { form: plainNames('pre') })],
    [
      'pre.cluster.a.upstream_rq_200:3|c',
      'pre.server.live:1|g',
      'pre.cluster.a.upstream_rq_time:0|ms',
      'pre.cluster.a.upstream_rq_time:7|ms',
      'pre.cluster.a.upstream_rq_time:7|ms',
    ],
  );
  const tagged = [
    ...statsdLines(first, { form: taggedNames('dog', new TagExtractor(defaultTagRules())) }),
  ];
  assert.equal(
    tagged[0],
    'dog.cluster.upstream_rq:3|c|#envoy.response_code:200,envoy.cluster_name:a',
  );
  store.flushHistograms();
  store.increment(counter);
  assert.deepEqual(
    [...statsdLines(await snapshotOf(store), { form: plainNames('pre') })],
    ['pre.cluster.a.upstream_rq_200:1|c', 'pre.server.live:1|g'],
  );
});

test('resetting counters takes nothing from what sinks are told', async () => {
  const store = new SinkStore();
  const counter = store.defineCounter('c');
  store.add(counter, 3);
  await snapshotOf(store);
  store.add(counter, 2);
  store.resetCounters();
  store.add(counter, 4);
  assert.deepEqual((await snapshotOf(store)).counters, [{ name: 'c', gained: 6, value: 4 }]);
});

test('many equal values make one line with a sample rate', async () => {
  const store = new SinkStore();
  const time = store.defineHistogram('t');
  for (let n = 0; n < 50; n++) store.record(time, 5);
  store.flushHistograms();
  assert.deepEqual(
    [...statsdLines(await snapshotOf(store), { form: plainNames('p') })],
    ['p.t:5|ms|@0.02'],
  );
});

test('microseconds are sent as milliseconds where the sink scales, other values as they are', async () => {
  const store = new SinkStore();
  const loop = store.defineBlock(DISPATCHER, 'server.dispatcher.');
  store.record(loop + DISPATCHER.index.loop_duration_us, 2500);
  store.record(store.defineHistogram('cluster.a.upstream_rq_time'), 25);
  store.flushHistograms();
  const snapshot = await snapshotOf(store);
  const form = plainNames('p');
  const values = (scalesToMs: boolean): readonly string[] =>
    [...statsdLines(snapshot, { form, scalesToMs })].map((line) => line.slice(line.indexOf(':')));
  assert.deepEqual(values(true), [':25|ms', ':2.5|ms']);
  assert.deepEqual(values(false), [':25|ms', ':2500|ms']);
});

test('statsd over UDP sends one line per datagram, or as many as fit', async () => {
  const receiver = createSocket('udp4').bind(0, '127.0.0.1');
  after(() => receiver.close());
  await once(receiver, 'listening');
  const { port } = receiver.address();
  const datagrams: string[] = [];
  const store = new SinkStore();
  for (const name of ['a', 'b', 'c']) store.increment(store.defineCounter(name));
  const snapshot = await snapshotOf(store);
  const target = { address: '127.0.0.1', port };
  for (const [maxBytes, expected] of [
    [0, ['p.a:1|c', 'p.b:1|c', 'p.c:1|c']],
    [16, ['p.a:1|c\np.b:1|c', 'p.c:1|c']],
  ] as const) {
    datagrams.length = 0;
    const sink = new DatagramStatsdSink({ target, form: plainNames('p'), maxBytes });
    const all = new Promise<void>((resolve) => {
      receiver.removeAllListeners('message');
      receiver.on('message', (data) => {
        if (datagrams.push(data.toString()) === expected.length) resolve();
      });
    });
    await sink.flush(snapshot);
    await all;
    assert.deepEqual(datagrams, expected);
    await sink.close();
  }
});

test('statsd over TCP keeps one connection and opens another after a failure', async () => {
  const connections: Socket[] = [];
  const lines: string[] = [];
  const received = (): Promise<unknown> => once(server, 'line');
  const server = createServer((socket) => {
    connections.push(socket);
    socket.on('data', (data) => {
      lines.push(data.toString());
      server.emit('line');
    });
  }).listen(0, '127.0.0.1');
  after(() => {
    connections.forEach((socket) => socket.destroy());
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const store = new SinkStore();
  store.increment(store.defineCounter('a'));
  const snapshot = await snapshotOf(store);
  const sink = new TcpStatsdSink({
    hostOf: () => ({ address: '127.0.0.1', port }),
    form: plainNames('p'),
  });
  for (let n = 0; n < 2; n++) {
    const arrived = received();
    await sink.flush(snapshot);
    await arrived;
  }
  assert.deepEqual([lines.join(''), connections.length], ['p.a:1|c\np.a:1|c\n', 1]);
  const again = once(server, 'connection');
  connections[0]?.destroy();
  while (connections.length < 2) {
    await sink.flush(snapshot);
    await Promise.race([again, new Promise((resolve) => setTimeout(resolve, 20))]);
  }
  sink.close();
});

test('a cluster without hosts fails the flush with a reason', async () => {
  const sink = new TcpStatsdSink({ hostOf: () => undefined, form: plainNames('p') });
  await assert.rejects(sink.flush({ counters: [], gauges: [], histograms: [] }), /has no host/);
});

interface DashboardEvent {
  readonly [field: string]: unknown;
}

function dashboard(store: StatStore): DashboardSink {
  return new DashboardSink({
    turns: new LoopTurns(),
    store,
    clock: systemClock,
    intervalMs: 300,
    windowFlushes: 2,
    clusters: () => [{ name: 'a', maxRequests: 10, maxPendingRequests: 20 }],
  });
}

async function nextEvents(client: AsyncIterator<string>): Promise<readonly DashboardEvent[]> {
  const { value } = (await client.next()) as { value: string };
  assert.ok(value.endsWith('\n\n:\n\n'));
  return [...value.matchAll(/^data: (.*)$/gm)].map(
    ([, json]) => JSON.parse(json ?? '') as DashboardEvent,
  );
}

test('the dashboard tells each cluster over a rolling window of flushes', async () => {
  const store = new StatStore();
  const base = store.defineBlock(CLUSTER, 'cluster.a.');
  const ok = store.defineCounter('cluster.a.upstream_rq_2xx');
  const bad = store.defineCounter('cluster.a.upstream_rq_5xx');
  const time = store.defineHistogram('cluster.a.upstream_rq_time');
  store.setGauge(base + CLUSTER.index.membership_total, 2);
  const sink = dashboard(store);
  const answer = sink.connect();
  assert.equal(answer.contentType, 'text/event-stream');
  const client = (answer.body as AsyncIterable<string>)[Symbol.asyncIterator]();
  await sink.flush();
  const [before] = await nextEvents(client);
  assert.deepEqual([before?.['requestCount'], before?.['latencyExecute']], [0, {}]);
  store.add(ok, 3);
  store.add(bad, 2);
  store.add(base + CLUSTER.index.upstream_rq_timeout, 1);
  store.record(time, 4);
  store.flushHistograms();
  await sink.flush();
  const [command, pool] = await nextEvents(client);
  assert.deepEqual(
    ['type', 'name', 'requestCount', 'errorCount', 'errorPercentage', 'rollingCountFailure'].map(
      (field) => command?.[field],
    ),
    ['HystrixCommand', 'a', 5, 2, 40, 1],
  );
  assert.equal(command?.['rollingCountTimeout'], 1);
  assert.equal(command?.['reportingHosts'], 2);
  const latency = command?.['latencyExecute'] as DashboardEvent | undefined;
  assert.equal(latency?.['50'], 4.05);
  assert.deepEqual(
    [pool?.['type'], pool?.['propertyValue_queueSizeRejectionThreshold'], pool?.['currentTime']],
    ['HystrixThreadPool', 20, undefined],
  );
  await sink.flush();
  assert.equal((await nextEvents(client))[0]?.['requestCount'], 5);
  await sink.flush();
  assert.equal((await nextEvents(client))[0]?.['requestCount'], 0, 'the window has moved on');
});

test('the counters that the dashboard reads exist from its first event until their cluster goes', async () => {
  const store = new StatStore();
  let clusters = [{ name: 'a', maxRequests: 10, maxPendingRequests: 20 }];
  const sink = new DashboardSink({
    turns: new LoopTurns(),
    store,
    clock: systemClock,
    intervalMs: 300,
    windowFlushes: 2,
    clusters: () => clusters,
  });
  const names = (): readonly string[] => [...store.definitions()].map(({ name }) => name);
  await sink.flush();
  assert.deepEqual(names(), [], 'nobody listens');
  sink.connect();
  await sink.flush();
  await sink.flush();
  assert.deepEqual(names(), [
    'cluster.a.retry.upstream_rq_4xx',
    'cluster.a.retry.upstream_rq_5xx',
    'cluster.a.upstream_rq_2xx',
    'cluster.a.upstream_rq_4xx',
    'cluster.a.upstream_rq_5xx',
  ]);
  clusters = [];
  await sink.flush();
  assert.deepEqual(names(), []);
});

test('a client that does not read is dropped, and the others go on', async () => {
  const sink = dashboard(new StatStore());
  const slow = (sink.connect().body as AsyncIterable<string>)[Symbol.asyncIterator]();
  const quick = (sink.connect().body as AsyncIterable<string>)[Symbol.asyncIterator]();
  for (let n = 0; n < 40; n++) {
    await sink.flush();
    await nextEvents(quick);
  }
  assert.equal((await slow.next()).done, true);
  sink.close();
  assert.equal((await quick.next()).done, true);
});
