/**
 * What has to hold whatever the workers and the supervisor do, in whatever order: a model of plain
 * sums is kept beside the real stores and compared after every step.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defineTemplate } from '../../../../shared/stats/template.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { POOL, PREFIXES, Worker, Model, small, steps } from './worker-model.ts';

test('counters, gauges and histograms are the sums of what living and dead workers told', () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 60, size: 'max' }), (run) => {
      const model = new Model();
      for (const step of run) {
        step(model);
        model.check();
      }
      model.checkHistograms();
      model.checkNamed();
      model.tell();
    }),
    { numRuns: 200 },
  );
});

test('a counter never falls but by a reset', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(small, fc.boolean()), { maxLength: 40 }), (run) => {
      const model = new Model();
      const index = (model.bases[0] as number) + POOL.index.total;
      let last = 0;
      for (const [who, dies] of run) {
        const worker = model.worker(who);
        worker.store.increment((worker.bases[0] as number) + POOL.index.total);
        if (dies) model.replace(who);
        else worker.report();
        assert.ok(model.store.valueOf(index) >= last);
        last = model.store.valueOf(index);
      }
    }),
  );
});

test('a dead worker takes its gauges with it at once and leaves its counters', () => {
  const model = new Model();
  const worker = model.worker(0);
  worker.store.setGauge((worker.bases[0] as number) + POOL.index.active, 7);
  worker.store.increment(worker.bases[0] as number);
  worker.store.increment(worker.named);
  worker.report();
  worker.share.leave();
  assert.equal(model.store.valueOf((model.bases[0] as number) + POOL.index.active), 0);
  assert.equal(model.store.valueOf((model.bases[0] as number) + POOL.index.total), 1);
  assert.equal(model.store.valueOf(model.store.defineCounter('pool.a.code_200')), 1);
});

test('two workers that define the same block or name share one', () => {
  const store = new StatStore();
  const [first, second] = [new Worker(store), new Worker(store)];
  first.store.increment(first.named);
  second.store.increment(second.named);
  first.report();
  second.report();
  assert.equal(store.valueOf(store.defineCounter('pool.a.code_200')), 2);
  assert.equal([...store.definitions()].length, PREFIXES.length + 1);
});

test('a block goes with its last holder and takes the names below it along', () => {
  const store = new StatStore();
  const [first, second] = [new Worker(store), new Worker(store)];
  first.store.add((first.bases[0] as number) + POOL.index.active, 2);
  first.report();
  second.report();
  for (const worker of [first, second]) {
    assert.ok(store.find(POOL, 'pool.a.') !== undefined);
    worker.store.releaseBlock(worker.bases[0] as number);
    worker.report();
  }
  assert.equal(store.find(POOL, 'pool.a.'), undefined);
  assert.deepEqual(
    [...store.definitions()].map(({ name }) => name),
    ['pool.b.', 'pool.c.'],
  );
});

test('a block that only a dead worker held stays until its next holder releases it', () => {
  const store = new StatStore();
  const dead = new Worker(store);
  dead.store.increment(dead.bases[0] as number);
  dead.report();
  dead.share.leave();
  const next = new Worker(store);
  next.report();
  const definition = store.find(POOL, 'pool.a.');
  assert.equal(store.valueOf(definition?.base ?? -1), 1);
  next.store.releaseBlock(next.bases[0] as number);
  next.report();
  assert.equal(store.find(POOL, 'pool.a.'), undefined);
});

test('what is given up and made again within one report begins at zero, unless it is shared', () => {
  const store = new StatStore();
  const worker = new Worker(store);
  const shared = store.defineBlock(POOL, 'pool.b.');
  const remake = (position: number, isKnown: boolean): void => {
    const base = worker.bases[position] as number;
    worker.store.add(base, 5);
    worker.store.add(base + POOL.index.active, 4);
    if (isKnown) worker.report();
    worker.store.add(base, 2);
    worker.store.releaseBlock(base);
    const again = worker.store.defineBlock(POOL, PREFIXES[position] as string);
    worker.store.increment(again);
    worker.store.increment(again + POOL.index.active);
    worker.report();
  };
  for (const [position, isKnown] of [
    [0, false],
    [2, true],
  ] as const) {
    remake(position, isKnown);
    const own = store.find(POOL, PREFIXES[position] as string)?.base ?? -1;
    assert.deepEqual([store.valueOf(own), store.valueOf(own + POOL.index.active)], [1, 1]);
  }
  remake(1, true);
  assert.equal(store.find(POOL, 'pool.b.')?.base, shared);
  assert.deepEqual([store.valueOf(shared), store.valueOf(shared + POOL.index.active)], [8, 1]);
});

test('what a worker writes after it released a block is dropped', () => {
  const store = new StatStore();
  const worker = new Worker(store);
  const base = worker.bases[0] as number;
  worker.store.releaseBlock(base);
  worker.report();
  worker.store.increment(base);
  worker.report();
  const again = worker.store.defineBlock(POOL, 'pool.d.');
  worker.report();
  assert.equal(again, base);
  assert.equal(store.valueOf(store.find(POOL, 'pool.d.')?.base ?? -1), 0);
});

test('a flag is 1 while it is 1 in any worker, a gauge beyond 2^53 is printed exactly', () => {
  const FLAGS = defineTemplate('test_aggregation_flags', {
    open: { kind: 'gauge', help: 'Open', isFlag: true },
    left: { kind: 'gauge', help: 'Left', wraps: true },
  });
  const store = new StatStore();
  const open = store.defineBlock(FLAGS, 'breaker.');
  store.add(open, 2);
  assert.equal(store.printedValue(open), '1');
  store.subtract(open + FLAGS.index.left, 2);
  assert.equal(store.printedValue(open + FLAGS.index.left), '18446744073709551614');
  const version = store.defineGauge('version');
  store.setWideGauge(version, 17241709254077376921n);
  assert.equal(store.printedValue(version), '17241709254077376921');
  store.setGauge(version, 5);
  assert.equal(store.printedValue(version), '5');
  store.subtract(version, 9);
  assert.equal(store.printedValue(version), '0');
});
