/**
 * Tells the supervisor the weights that hosts of one cluster reported, for its readers:
 * at most once per update of the weights, and only of hosts that reported meanwhile.
 */
import type { SentWeight } from '../../../shared/messages/worker-notices.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import type { UpstreamHost } from '../hosts/host.ts';

export interface LoadTellerParts {
  readonly loop: WorkerLoop;
  readonly updateMs: number;
  readonly tell: (weights: readonly SentWeight[]) => void;
  /** What asks the hosts for reports; absent: they come with responses. */
  readonly sessions?: { close(): void };
}

export class ReportedLoadTeller implements TimerOwner {
  readonly #parts: LoadTellerParts;
  readonly #timer = new LoopTimer(this, 0);
  readonly #noted = new Set<UpstreamHost>();

  constructor(parts: LoadTellerParts) {
    this.#parts = parts;
  }

  noted(host: UpstreamHost): void {
    this.#noted.add(host);
    const { loop, updateMs } = this.#parts;
    if (!this.#timer.isArmed) loop.timers.list(updateMs).arm(this.#timer);
  }

  onException(): void {
    this.#noted.clear();
  }

  onTimer(): void {
    const nowMs = this.#parts.loop.clock.ms;
    const weights: SentWeight[] = [];
    for (const { id, reportedLoad } of this.#noted) {
      const last = reportedLoad?.last;
      if (last === undefined) continue;
      const { weight, sinceMs, lastMs } = last;
      weights.push({ host: id, weight, forMs: nowMs - sinceMs, agoMs: nowMs - lastMs });
    }
    this.#noted.clear();
    if (weights.length > 0) this.#parts.tell(weights);
  }

  close(): void {
    this.#timer.disarm();
    this.#parts.sessions?.close();
  }
}
