/**
 * The first start of all workers together: no worker accepts before every worker has its
 * configuration, and one failure ends the start for all. Later starts are no matter of this file.
 */

/** A first start is given up when one worker has failed this often. */
const TRIES = 3;

/** Workers refused the configuration or could not be brought up; the text is for the user. */
export class WorkerStartError extends Error {
  readonly code = 'worker_start_failed';

  constructor(message: string) {
    super(message);
    this.name = 'WorkerStartError';
  }
}

export class FirstStart {
  readonly done: Promise<void>;
  readonly #waitingToApply: Set<number>;
  readonly #waitingToRun: Set<number>;
  readonly #allApplied: Promise<void>;
  #resolveApplied: (() => void) | undefined;
  #resolveDone: (() => void) | undefined;
  readonly #rejects: ((error: WorkerStartError) => void)[] = [];

  constructor(concurrency: number) {
    const indices = Array.from({ length: concurrency }, (_, index) => index);
    this.#waitingToApply = new Set(indices);
    this.#waitingToRun = new Set(indices);
    this.#allApplied = new Promise((resolve, reject) => {
      this.#resolveApplied = resolve;
      this.#rejects.push(reject);
    });
    this.done = new Promise((resolve, reject) => {
      this.#resolveDone = resolve;
      this.#rejects.push(reject);
    });
    // A failure before anybody waits is still seen by a later await.
    this.#allApplied.catch(() => undefined);
    this.done.catch(() => undefined);
  }

  /** Resolves when all workers came this far once; rejects when the start has failed. */
  applied(index: number): Promise<void> {
    this.#waitingToApply.delete(index);
    if (this.#waitingToApply.size === 0) this.#resolveApplied?.();
    return this.#allApplied;
  }

  running(index: number): void {
    this.#waitingToRun.delete(index);
    if (this.#waitingToRun.size === 0) this.#resolveDone?.();
  }

  countFailure(index: number, failuresInARow: number): void {
    if (failuresInARow < TRIES || !this.#waitingToRun.has(index)) return;
    this.fail(new WorkerStartError(`worker ${index} ended ${failuresInARow} times while starting`));
  }

  /** Has no effect once the start is done. */
  fail(error: WorkerStartError): void {
    for (const reject of this.#rejects) reject(error);
  }
}
