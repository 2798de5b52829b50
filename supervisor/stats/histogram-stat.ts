/**
 * One histogram as the supervisor keeps it: what came since the last flush, the interval that the
 * last flush closed, and everything up to the last flush. Made when the first value arrives.
 */
import { BucketCounts } from './bucket-counts.ts';

const NOTHING = new BucketCounts();

export class HistogramStat {
  /** Values of the last closed interval. */
  interval = NOTHING;
  /** Values since the process began, up to the last flush. */
  readonly cumulative = new BucketCounts();
  #recording = NOTHING;

  add(bucket: number, count: number): void {
    if (this.#recording === NOTHING) this.#recording = new BucketCounts();
    this.#recording.add(bucket, count);
  }

  /** Whether a value came since the last flush. */
  get isRecording(): boolean {
    return this.#recording !== NOTHING;
  }

  /** Whether a flush has seen any value. */
  get used(): boolean {
    return this.cumulative.total > 0;
  }

  /** Ends the interval. */
  flush(): void {
    this.interval = this.#recording;
    this.#recording = NOTHING;
    this.cumulative.merge(this.interval);
  }
}
