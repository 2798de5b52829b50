/**
 * Tells a client that opens streams only to reset them ("rapid reset") from one that changes its
 * mind now and then. Source: Envoy, with its limits and the names of their runtime keys.
 */
import { readDouble } from '../../../shared/runtime/read-runtime.ts';
import type { Runtime } from '../../loop/runtime.ts';

const LEAST_STREAMS = { key: 'overload.premature_reset_total_stream_count', value: 500 };
const LEAST_LIFE_S = { key: 'overload.premature_reset_min_stream_lifetime_seconds', value: 1 };

export class PrematureResets {
  readonly #runtime: Runtime;
  #ended = 0;
  #premature = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** A stream ended; `lifeMs` of one that the client reset before its answer began. */
  note(lifeMs: number | undefined): void {
    this.#ended++;
    if (lifeMs === undefined) return;
    if (lifeMs <= this.#setting(LEAST_LIFE_S) * 1000) this.#premature++;
  }

  /** True when the connection is to end. */
  get areTooMany(): boolean {
    if (this.#premature === 0) return false;
    const least = this.#setting(LEAST_STREAMS);
    // As many as would be half of those streams, or half of those that there were.
    return this.#premature >= Math.max(least, this.#ended) / 2;
  }

  #setting({ key, value }: { readonly key: string; readonly value: number }): number {
    return readDouble(this.#runtime.snapshot, key, value);
  }
}
