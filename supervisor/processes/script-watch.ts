/**
 * Finds workers that a module of the operator does not give back: their loop stands still for longer
 * than the module may take. Such a worker is ended and replaced, and the module is switched off in
 * all workers until it has another version.
 */
import { ScriptPage } from '../../shared/limits/script-page.ts';
import type { ScriptNotice } from '../../shared/messages/worker-notices.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';

const LOOK_MS = 100;
/** Modules that are known at once, in all their versions. */
const MODULES_MAX = 10_000;

export interface ScriptWatchOptions {
  readonly clock: Clock;
  readonly concurrency: number;
  readonly scriptFd: number;
  readonly stuck: (workerIndex: number, module: ScriptNotice, forMs: number) => void;
}

interface Standing {
  readonly beat: number;
  readonly sinceMs: number;
}

export class ScriptWatch {
  readonly disabled = new Set<number>();
  readonly #options: ScriptWatchOptions;
  readonly #known = new Map<number, ScriptNotice>();
  readonly #standing = new Map<number, Standing>();
  #page: ScriptPage | undefined;
  #timer: Timer | undefined;

  constructor(options: ScriptWatchOptions) {
    this.#options = options;
  }

  /** A worker runs a module: from the first one on workers are looked at. */
  began(notice: ScriptNotice): void {
    const { clock, scriptFd, concurrency } = this.#options;
    if (this.#known.size < MODULES_MAX) this.#known.set(notice.module, notice);
    this.#page ??= ScriptPage.map(scriptFd, concurrency);
    this.#timer ??= clock.every(LOOK_MS, () => this.#look(), { unref: true });
  }

  /** Another life begins in the slot. */
  spawned(workerIndex: number): void {
    this.#standing.delete(workerIndex);
    this.#page?.clear(workerIndex);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #look(): void {
    const page = this.#page;
    if (page === undefined) return;
    const { clock, concurrency } = this.#options;
    const nowMs = clock.monotonicMs();
    for (let index = 0; index < concurrency; index++) {
      const { module, beat } = page.look(index);
      const standing = this.#standing.get(index);
      if (module === 0 || standing?.beat !== beat) {
        this.#standing.set(index, { beat, sinceMs: nowMs });
        continue;
      }
      const known = this.#known.get(module);
      const forMs = nowMs - standing.sinceMs;
      if (known === undefined || forMs < known.loopTimeoutMs) continue;
      this.#standing.delete(index);
      this.disabled.add(module);
      this.#options.stuck(index, known, Math.round(forMs));
    }
  }
}
