/**
 * Counters by response code below one prefix: `upstream_rq_200`, `upstream_rq_2xx` and
 * `upstream_rq_completed`, with the histogram `upstream_rq_time`. They appear on first use; the index
 * of the code seen last is kept, since it is nearly always the next one too.
 */
import type { StatWriter } from './stat-writer.ts';

interface CodeIndices {
  readonly code: number;
  readonly ofClass: number;
}

export class ResponseCodeStats {
  readonly #stats: StatWriter;
  readonly #prefix: string;
  /** The names of what appeared. */
  #names: string[] = [];
  readonly #codes = new Map<number, CodeIndices>();
  #completed = -1;
  #time = -1;
  #lastStatus = -1;
  #last: CodeIndices = { code: -1, ofClass: -1 };

  /** `prefix` ends in a dot. */
  constructor(stats: StatWriter, prefix: string) {
    this.#stats = stats;
    this.#prefix = prefix;
  }

  /** Counts a response, informational ones too. */
  charge(status: number): void {
    if (this.#completed < 0) this.#completed = this.#counter('upstream_rq_completed');
    this.#stats.increment(this.#completed);
    const indices = status === this.#lastStatus ? this.#last : this.#lookUp(status);
    if (indices.code >= 0) this.#stats.increment(indices.code);
    this.#stats.increment(indices.ofClass);
  }

  recordTime(milliseconds: number): void {
    if (this.#time < 0) this.#time = this.#stats.defineHistogram(this.#named('upstream_rq_time'));
    this.#stats.record(this.#time, milliseconds);
  }

  #lookUp(status: number): CodeIndices {
    let indices = this.#codes.get(status);
    if (indices === undefined) {
      const isKnown = status >= 100 && status < 600;
      indices = {
        code: isKnown ? this.#counter(`upstream_rq_${status}`) : -1,
        ofClass: this.#counter(
          isKnown ? `upstream_rq_${Math.floor(status / 100)}xx` : 'upstream_rq_unknown',
        ),
      };
      this.#codes.set(status, indices);
    }
    this.#lastStatus = status;
    this.#last = indices;
    return indices;
  }

  /**
   * They go, unless somebody else has them too: who follows begins again. Nothing is counted here
   * any more.
   */
  release(): void {
    for (const name of this.#names) this.#stats.releaseNamed(name);
    this.#names = [];
  }

  #counter(name: string): number {
    return this.#stats.defineCounter(this.#named(name));
  }

  #named(name: string): string {
    const whole = this.#prefix + name;
    this.#names.push(whole);
    return whole;
  }
}
