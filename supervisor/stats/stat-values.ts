/**
 * Values and flags of statistics by their indices, and who reads what counters gain. Which index
 * belongs to which statistic is the store's matter.
 */
import { bucketOf } from '../../shared/stats/histogram-buckets.ts';
import type { StatKind } from '../../shared/stats/template.ts';
import { CounterLatch } from './counter-latch.ts';
import { HistogramStat } from './histogram-stat.ts';
import {
  COUNTER,
  FLAG,
  IN_MICROSECONDS,
  KIND_MASK,
  STAT_KINDS,
  USED,
  WRAPS,
} from './stat-flags.ts';

export abstract class StatValues {
  #values = new Float64Array(4096);
  #flags = new Uint8Array(4096);
  #size = 0;
  readonly #freeBases = new Map<number, number[]>();
  readonly #histograms = new Map<number, HistogramStat>();
  /**
   * Histograms with values since the last flush, and those that the last flush closed with values.
   */
  #recorded: number[] = [];
  #closed: readonly number[] = [];
  readonly #texts = new Map<number, string>();
  /** Gauges beyond 2^53, such as hashes of versions. */
  readonly #wideGauges = new Map<number, bigint>();
  /** For each reader of gains the counters' values at its last reading. */
  readonly #latches: CounterLatch[] = [];

  increment(index: number): void {
    this.add(index, 1);
  }

  add(index: number, amount: number): void {
    this.#values[index] = (this.#values[index] as number) + amount;
    this.#flags[index] = (this.#flags[index] as number) | USED;
  }

  subtract(index: number, amount: number): void {
    this.add(index, -amount);
  }

  /** For gauges that no worker writes; others change by `add` and `subtract`. */
  setGauge(index: number, value: number): void {
    this.#values[index] = value;
    this.#flags[index] = (this.#flags[index] as number) | USED;
  }

  /** Sets a gauge to an unsigned 64-bit value that need not fit a number exactly. */
  setWideGauge(index: number, value: bigint): void {
    this.setGauge(index, Number(value));
    this.#wideGauges.set(index, value);
  }

  setText(index: number, value: string): void {
    this.#texts.set(index, value);
    this.#flags[index] = (this.#flags[index] as number) | USED;
  }

  record(index: number, value: number): void {
    this.recordBucket(index, bucketOf(value), 1);
  }

  /** Adds `count` values of one bucket to a histogram. */
  recordBucket(index: number, bucket: number, count: number): void {
    let histogram = this.#histograms.get(index);
    if (histogram === undefined) {
      histogram = new HistogramStat();
      this.#histograms.set(index, histogram);
    }
    if (!histogram.isRecording) this.#recorded.push(index);
    histogram.add(bucket, count);
  }

  valueOf(index: number): number {
    return this.#values[index] ?? 0;
  }

  /** A counter's or gauge's value as it is printed. */
  printedValue(index: number): string {
    const value = this.#values[index] as number;
    if (value <= 0) return this.#printedNegative(index, value);
    if (((this.#flags[index] as number) & FLAG) !== 0) return '1';
    if (value < Number.MAX_SAFE_INTEGER) return String(value);
    return (this.#wideGauges.get(index) ?? BigInt(Math.trunc(value))).toString();
  }

  /** Deltas of two workers may cross, but a gauge is never negative. */
  #printedNegative(index: number, value: number): string {
    const wraps = value < 0 && ((this.#flags[index] as number) & WRAPS) !== 0;
    return wraps ? BigInt.asUintN(64, BigInt(value)).toString() : '0';
  }

  textOf(index: number): string {
    return this.#texts.get(index) ?? '';
  }

  histogramOf(index: number): HistogramStat | undefined {
    return this.#histograms.get(index);
  }

  /**
   * True of a histogram that records microseconds; one that is defined by its whole name has no
   * unit.
   */
  isInMicroseconds(index: number): boolean {
    return ((this.#flags[index] as number) & IN_MICROSECONDS) !== 0;
  }

  kindOf(index: number): StatKind {
    return STAT_KINDS[(this.#flags[index] as number) & KIND_MASK] as StatKind;
  }

  /** USED, HIDDEN and REJECTED bits. */
  flagsOf(index: number): number {
    return this.#flags[index] as number;
  }

  /** Number of indices in use or free; every index is below it. */
  get size(): number {
    return this.#size;
  }

  /** Makes a reader of what counters gain, resets apart, from their beginning on. */
  makeLatch(): CounterLatch {
    const latch = new CounterLatch();
    this.#latches.push(latch);
    return latch;
  }

  /** Adds what all readers of gains have been told by another epoch. */
  addKnown(index: number, amount: number): void {
    this.add(index, amount);
    for (const latch of this.#latches) latch.gained(index, 0, amount);
  }

  /**
   * Closes the interval of every histogram; one without values, now and the last time, is as it
   * was.
   */
  flushHistograms(): void {
    const due = new Set([...this.#closed, ...this.#recorded]);
    this.#closed = this.#recorded;
    this.#recorded = [];
    for (const index of due) {
      const histogram = this.#histograms.get(index);
      if (histogram === undefined) continue;
      histogram.flush();
      if (histogram.used) this.#flags[index] = (this.#flags[index] as number) | USED;
    }
  }

  /** Sets counters to 0; what sinks are told is not affected. */
  protected resetCountersIn(base: number, size: number): void {
    for (let index = base; index < base + size; index++) {
      if (((this.#flags[index] as number) & KIND_MASK) !== COUNTER) continue;
      for (const latch of this.#latches) latch.gained(index, this.#values[index] as number, 0);
      this.#values[index] = 0;
    }
  }

  /** A counter goes on at another index; the old one is not read any more. */
  protected moveCounter(from: number, to: number): void {
    this.add(to, this.valueOf(from));
    for (const latch of this.#latches) latch.move(from, to);
  }

  protected setFlags(base: number, flags: ArrayLike<number>): void {
    this.#flags.set(flags, base);
  }

  protected addFlags(index: number, flags: number): void {
    this.#flags[index] = this.flagsOf(index) | flags;
  }

  /** Nobody counts here any more: the next who takes as many indices gets these. */
  protected freeIndices(base: number, size: number): void {
    this.#values.fill(0, base, base + size);
    this.#flags.fill(0, base, base + size);
    for (const latch of this.#latches) latch.clear(base, size);
    for (let index = base; index < base + size; index++) {
      this.#histograms.delete(index);
      this.#texts.delete(index);
      this.#wideGauges.delete(index);
    }
    const free = this.#freeBases.get(size);
    if (free === undefined) this.#freeBases.set(size, [base]);
    else free.push(base);
  }

  protected takeIndices(count: number): number {
    const free = this.#freeBases.get(count)?.pop();
    if (free !== undefined) return free;
    const base = this.#size;
    this.#size += count;
    if (this.#size > this.#values.length) {
      const capacity = Math.max(this.#size, Math.ceil(this.#values.length * 1.5));
      const values = new Float64Array(capacity);
      values.set(this.#values);
      this.#values = values;
      const flags = new Uint8Array(capacity);
      flags.set(this.#flags);
      this.#flags = flags;
    }
    return base;
  }
}
