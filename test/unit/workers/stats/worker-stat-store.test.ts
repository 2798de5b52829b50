import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResponseCodeStats } from '../../../../shared/stats/response-code-stats.ts';
import { bucketOf, bucketStart } from '../../../../shared/stats/histogram-buckets.ts';
import { defineTemplate } from '../../../../shared/stats/template.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';

const POOL = defineTemplate('test_worker_pool', {
  total: { kind: 'counter', help: 'Connections' },
  active: { kind: 'gauge', help: 'Open connections' },
  length_ms: { kind: 'histogram', help: 'Life of connections', unit: 'ms' },
});

test('a report carries what changed since the report before', () => {
  const store = new WorkerStatStore();
  const base = store.defineBlock(POOL, 'pool.a.');
  store.increment(base + POOL.index.total);
  store.add(base + POOL.index.total, 4);
  store.add(base + POOL.index.active, 3);
  store.subtract(base + POOL.index.active, 1);
  assert.deepEqual(store.takeReport(), {
    blocks: [{ base, template: 'test_worker_pool', prefix: 'pool.a.' }],
    named: [],
    released: [],
    deltas: [base, 5, base + 1, 2],
    histograms: [],
  });
  store.setGauge(base + POOL.index.active, 0);
  assert.deepEqual(store.takeReport().deltas, [base + 1, -2]);
  assert.deepEqual(store.takeReport().deltas, []);
});

test('a gauge that rose and fell between two reports is still reported as used', () => {
  const store = new WorkerStatStore();
  const gauge = store.defineGauge('pool.busy');
  store.add(gauge, 1);
  store.subtract(gauge, 1);
  assert.deepEqual(store.takeReport().deltas, [gauge, 0]);
});

test('the same name or block is defined once', () => {
  const store = new WorkerStatStore();
  assert.equal(store.defineCounter('x'), store.defineCounter('x'));
  const first = store.defineBlock(POOL, 'pool.a.');
  assert.equal(store.defineBlock(POOL, 'pool.a.'), first);
  assert.notEqual(store.defineBlock(POOL, 'pool.b.'), first);
  store.releaseBlock(first);
  assert.deepEqual(store.takeReport().released, [], 'the block has another holder');
  store.releaseBlock(first);
  assert.deepEqual(store.takeReport().released, [first]);
});

test('the indices of a released block are reused only after the report that says so', () => {
  const store = new WorkerStatStore();
  const first = store.defineBlock(POOL, 'pool.a.');
  store.increment(first);
  store.releaseBlock(first);
  const second = store.defineBlock(POOL, 'pool.a.');
  assert.notEqual(second, first);
  store.takeReport();
  const third = store.defineBlock(POOL, 'pool.c.');
  assert.equal(third, first);
  assert.equal(store.valueOf(third), 0);
});

test('histograms report buckets and counts', () => {
  const store = new WorkerStatStore();
  const histogram = store.defineHistogram('pool.length_ms');
  for (const value of [0, 0, 7, 1234, 1299]) store.record(histogram, value);
  const { histograms } = store.takeReport();
  assert.deepEqual(histograms, [
    histogram,
    0,
    2,
    histogram,
    bucketOf(7),
    1,
    histogram,
    bucketOf(1200),
    2,
  ]);
  assert.deepEqual(store.takeReport().histograms, []);
});

test('thousands of blocks and changes fit', () => {
  const store = new WorkerStatStore();
  const bases = Array.from({ length: 3000 }, (_, n) => store.defineBlock(POOL, `pool.${n}.`));
  for (const base of bases) store.increment(base);
  assert.equal(store.takeReport().deltas.length, 6000);
});

test('a bucket holds the values that share their first two digits', () => {
  const cases: readonly (readonly [value: number, start: number])[] = [
    [-3, 0],
    [0, 0],
    [0.9, 0],
    [1, 1],
    [9, 9],
    [10, 10],
    [99, 99],
    [100, 100],
    [109, 100],
    [110, 110],
    [999, 990],
    [1000, 1000],
    [123456, 120000],
    [2 ** 53, 9.0e15],
  ];
  for (const [value, start] of cases)
    assert.equal(Math.round(bucketStart(bucketOf(value)) * 100), start * 100, `${value}`);
});

test('a statistic by name goes with the last of those who defined it, beside a block that stays', () => {
  const store = new WorkerStatStore();
  store.defineBlock(POOL, 'pool.a.');
  const [before, after] = [
    new ResponseCodeStats(store, 'pool.a.'),
    new ResponseCodeStats(store, 'pool.a.'),
  ];
  before.charge(200);
  before.charge(503);
  after.charge(200);
  const indices = new Map(store.takeReport().named.map(({ name, index }) => [name, index]));
  before.release();
  const gone = ['pool.a.upstream_rq_503', 'pool.a.upstream_rq_5xx'].map((name) =>
    indices.get(name),
  );
  assert.deepEqual(store.takeReport().released, gone);
  after.release();
  assert.equal(store.takeReport().released.length, indices.size - gone.length);
  new ResponseCodeStats(store, 'pool.a.').charge(200);
  assert.equal(store.takeReport().named.length, indices.size - gone.length);
});
