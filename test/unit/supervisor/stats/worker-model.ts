/** Workers that report stats at random, and a model of what their sums are. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { defineTemplate } from '../../../../shared/stats/template.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { WorkerShare } from '../../../../supervisor/stats/worker-share.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';

export const POOL = defineTemplate('test_aggregation_pool', {
  total: { kind: 'counter', help: 'Connections' },
  active: { kind: 'gauge', help: 'Open connections' },
  length_ms: { kind: 'histogram', help: 'Life of connections' },
});

const templates = new Map([[POOL.id, POOL]]);

export const PREFIXES = ['pool.a.', 'pool.b.', 'pool.c.'];

const WORKERS = 3;

/** What one worker's life has told so far, and what it has counted since. */
export class Worker {
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

export class Model {
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

export type Step = (model: Model) => void;

export const small = fc.nat({ max: 5 });

export const steps: fc.Arbitrary<Step> = fc.oneof(
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
