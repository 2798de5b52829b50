/**
 * What has to hold whatever the workers and the supervisor do, in whatever order: a model of plain
 * sums is kept beside the real stores and compared after every step.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defineTemplate } from '../../../../shared/stats/template.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { WorkerShare } from '../../../../supervisor/stats/worker-share.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';

const POOL = defineTemplate('test_aggregation_pool', {
  total: { kind: 'counter', help: 'Connections' },
  active: { kind: 'gauge', help: 'Open connections' },
  length_ms: { kind: 'histogram', help: 'Life of connections' },
});
const templates = new Map([[POOL.id, POOL]]);
const PREFIXES = ['pool.a.', 'pool.b.', 'pool.c.'];
const WORKERS = 3;

/** What one worker's life has told so far, and what it has counted since. */
class Worker {
  readonly store = new WorkerStatStore();
  readonly share: WorkerShare;
  readonly bases: number[];
  readonly named: number;
  /** By prefix. */
  readonly gauges = new Map<string, number>();
  readonly pending = new Map<string, number>();
  readonly pendingValues = new Map<string, number>();
  /** By whole name. */
  readonly pendingNamed = new Map<string, number>();
  reported = new Map<string, number>();

  constructor(store: StatStore) {
    this.share = new WorkerShare(store, templates);
    this.bases = PREFIXES.map((prefix) => this.store.defineBlock(POOL, prefix));
    this.named = this.store.defineCounter('pool.a.code_200');
  }

  report(): void {
    this.share.apply(this.store.takeReport());
  }
}

class Model {
  readonly counters = new Map<string, number>();
  readonly histograms = new Map<string, number>();
  readonly own = new Map<string, number>();
  readonly named = new Map<string, number>();
  readonly store = new StatStore();
  readonly bases = PREFIXES.map((prefix) => this.store.defineBlock(POOL, prefix));
  /** What counters gained whatever was reset, and what a sink was told of it. */
  readonly gained = new Map<string, number>();
  readonly told = new Map<string, number>();
  readonly latch = this.store.makeLatch();
  readonly workers = Array.from({ length: WORKERS }, () => new Worker(this.store));

  worker(index: number): Worker {
    return this.workers[index % WORKERS] as Worker;
  }

  replace(index: number): void {
    this.worker(index).share.leave();
    this.workers[index % WORKERS] = new Worker(this.store);
  }

  flush(index: number): void {
    const worker = this.worker(index);
    worker.report();
    for (const [name, count] of worker.pending) {
      bump(this.counters, name, count);
      bump(this.gained, name, count);
    }
    for (const [name, count] of worker.pendingNamed) bump(this.named, name, count);
    worker.pendingNamed.clear();
    for (const [name, count] of worker.pendingValues) bump(this.histograms, name, count);
    worker.pending.clear();
    worker.pendingValues.clear();
    worker.reported = new Map(worker.gauges);
  }

  /** A block of a worker goes and comes again: its gauge is the new block's, its counters go on. */
  remake(index: number, position: number): void {
    const worker = this.worker(index);
    worker.store.releaseBlock(worker.bases[position] as number);
    worker.bases[position] = worker.store.defineBlock(POOL, PREFIXES[position] as string);
    worker.gauges.set(PREFIXES[position] as string, 0);
  }

  setGauge(index: number, position: number, value: number): void {
    const worker = this.worker(index);
    worker.store.setGauge((worker.bases[position] as number) + POOL.index.active, value);
    worker.gauges.set(PREFIXES[position] as string, value);
  }

  check(): void {
    this.bases.forEach((base, position) => {
      const prefix = PREFIXES[position] as string;
      assert.equal(this.store.valueOf(base + POOL.index.total), this.counters.get(prefix) ?? 0);
      const shares = this.workers.map(({ reported }) => reported.get(prefix) ?? 0);
      const gauge = shares.reduce((sum, share) => sum + share, this.own.get(prefix) ?? 0);
      assert.equal(this.store.valueOf(base + POOL.index.active), gauge);
    });
  }

  /** Tells a sink what counters gained since it was told last. */
  tell(): void {
    this.bases.forEach((base, position) => {
      const index = base + POOL.index.total;
      bump(
        this.told,
        PREFIXES[position] as string,
        this.latch.take(index, this.store.valueOf(index)),
      );
    });
    for (const prefix of PREFIXES) {
      assert.equal(this.told.get(prefix) ?? 0, this.gained.get(prefix) ?? 0);
    }
  }

  checkNamed(): void {
    for (const [name, count] of this.named) {
      assert.equal(this.store.valueOf(this.store.findNamed(name)?.base ?? -1), count);
    }
  }

  checkHistograms(): void {
    this.store.flushHistograms();
    this.bases.forEach((base, position) => {
      const histogram = this.store.histogramOf(base + POOL.index.length_ms);
      const count = this.histograms.get(PREFIXES[position] as string) ?? 0;
      assert.equal(histogram?.cumulative.total ?? 0, count);
    });
  }
}

function bump(counts: Map<string, number>, name: string, amount: number): void {
  counts.set(name, (counts.get(name) ?? 0) + amount);
}

type Step = (model: Model) => void;

const small = fc.nat({ max: 5 });
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(small, small, small).map(([who, where, amount]): Step => (model) => {
    const worker = model.worker(who);
    const position = where % PREFIXES.length;
    worker.store.add((worker.bases[position] as number) + POOL.index.total, amount);
    bump(worker.pending, PREFIXES[position] as string, amount);
  }),
  fc.tuple(small, small, small).map(([who, where, value]): Step => (model) => {
    model.setGauge(who, where % PREFIXES.length, value);
  }),
  fc.tuple(small, small, fc.nat()).map(([who, where, value]): Step => (model) => {
    const worker = model.worker(who);
    const position = where % PREFIXES.length;
    worker.store.record((worker.bases[position] as number) + POOL.index.length_ms, value);
    bump(worker.pendingValues, PREFIXES[position] as string, 1);
  }),
  fc.tuple(small, small).map(([where, amount]): Step => (model) => {
    const position = where % PREFIXES.length;
    model.store.add((model.bases[position] as number) + POOL.index.active, amount);
    bump(model.own, PREFIXES[position] as string, amount);
  }),
  small.map(
    (who): Step =>
      (model) =>
        model.flush(who),
  ),
  small.map(
    (who): Step =>
      (model) =>
        model.replace(who),
  ),
  fc.constant<Step>((model) => {
    model.store.resetCounters();
    model.counters.clear();
    model.named.clear();
  }),
  fc.constant<Step>((model) => model.tell()),
  // A name is defined when it is first counted, in any number of workers.
  fc.tuple(small, small, small).map(([who, where, code]): Step => (model) => {
    const worker = model.worker(who);
    const name = `${PREFIXES[where % PREFIXES.length] as string}answers_${code}`;
    worker.store.increment(worker.store.defineCounter(name));
    bump(worker.pendingNamed, name, 1);
  }),
  fc.tuple(small, small).map(([who, where]): Step => (model) => {
    model.remake(who, where % PREFIXES.length);
  }),
  // With every part reported, so that the next block takes over the indices of this one.
  fc.tuple(small, small, small).map(([who, where, value]): Step => (model) => {
    const position = where % PREFIXES.length;
    model.setGauge(who, position, value);
    model.flush(who);
    model.remake(who, position);
    model.flush(who);
  }),
  fc.constant<Step>((model) => model.checkHistograms()),
);

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
