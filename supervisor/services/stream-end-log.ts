/**
 * Says why streams to a control plane ended, as loudly as Envoy does: at once what another try
 * will not mend, else when another reason follows or the control plane stays away.
 */
import type { Clock } from '../../shared/process/clock.ts';

export interface StreamEnd {
  /** The code of the gRPC status. */
  readonly code: number;
  readonly reason: string;
}

interface Earlier extends StreamEnd {
  readonly sinceMs: number;
}

const OK = 0;
/** DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and UNAVAILABLE pass by. */
const PASSING: ReadonlySet<number> = new Set([4, 8, 14]);
const PATIENCE_MS = 30_000;

export class StreamEndLog {
  readonly #clock: Clock;
  readonly #log: (level: 'debug' | 'warning', text: string) => void;
  readonly #stream: string;
  #earlier: Earlier | undefined;

  /** `method` is a path; `peer` a cluster or an address. */
  constructor(
    { method, peer }: { readonly method: string; readonly peer: string },
    clock: Clock,
    log: (level: 'debug' | 'warning', text: string) => void,
  ) {
    this.#clock = clock;
    this.#log = log;
    this.#stream = `${method.slice(method.lastIndexOf('/') + 1)} gRPC config stream to ${peer}`;
  }

  /** The control plane spoke. */
  heard(): void {
    this.#earlier = undefined;
  }

  ended({ code, reason }: StreamEnd): void {
    const text = `${this.#stream} closed: ${code}, ${reason}`;
    if (!PASSING.has(code)) return this.#log(code === OK ? 'debug' : 'warning', text);
    const earlier = this.#earlier;
    const nowMs = this.#clock.monotonicMs();
    if (earlier?.code !== code) {
      this.#earlier = { code, reason, sinceMs: nowMs };
      if (earlier === undefined) return this.#log('debug', text);
      const before = `(previously ${earlier.code}, ${earlier.reason} since ${ago(earlier, nowMs)})`;
      return this.#log('warning', `${text} ${before}`);
    }
    this.#earlier = { ...earlier, reason };
    if (nowMs - earlier.sinceMs <= PATIENCE_MS) return this.#log('debug', text);
    const since = ago(earlier, nowMs);
    this.#log('warning', `${this.#stream} closed since ${since}: ${code}, ${reason}`);
  }
}

function ago({ sinceMs }: Earlier, nowMs: number): string {
  return `${Math.floor((nowMs - sinceMs) / 1000)}s ago`;
}
