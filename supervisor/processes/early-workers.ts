/**
 * Worker processes that are made before the program is loaded, so that the runtime of both starts
 * side by side. Their number is a guess from the command line, which nobody has checked yet: the
 * worker pool takes those that it needs, and what is left is killed.
 */
import type { ChildProcess } from 'node:child_process';
import { spawnWorker } from './spawn-worker.ts';

/** The rest of a larger number is made when the command line is read. */
const EARLY_WORKERS_MAX = 16;

export class EarlyWorkers {
  readonly #waiting = new Map<number, ChildProcess>();
  readonly #endAll = (): void => this.endRest();

  constructor(count: number) {
    if (count === 0) return;
    // Without a server nobody waits for their end: they must not keep its output open.
    process.once('exit', this.#endAll);
    for (let index = 0; index < Math.min(count, EARLY_WORKERS_MAX); index += 1) {
      const child = spawnWorker(index);
      // A process that could not be made is tried again by the pool, which says why.
      child.on('error', ignore);
      if (child.pid !== undefined) this.#waiting.set(index, child);
    }
  }

  /** Undefined: there is none, or it has ended already. */
  take(index: number): ChildProcess | undefined {
    const child = this.#waiting.get(index);
    if (child === undefined) return undefined;
    this.#waiting.delete(index);
    child.off('error', ignore);
    return child.exitCode === null && child.signalCode === null ? child : undefined;
  }

  endRest(): void {
    process.off('exit', this.#endAll);
    for (const child of this.#waiting.values()) child.kill('SIGKILL');
    this.#waiting.clear();
  }
}

function ignore(): void {
  // Nothing is known that could be done.
}
