/**
 * What filters do as soon as they and the clusters are in force: fetch keys or tokens ahead of
 * requests. A listener opens once those that it is to wait for have ended.
 */
import type { WorkerLoop } from '../loop/worker-loop.ts';

/** Begins a task; `done` is called when it has ended, well or badly. */
export type StartTask = (done: () => void) => void;

interface Planned {
  readonly start: StartTask;
  readonly isAwaited: boolean;
}

export class StartTasks {
  readonly #loop: WorkerLoop;
  #planned: Planned[] = [];
  #open = 0;
  #waiters: (() => void)[] = [];

  constructor(loop: WorkerLoop) {
    this.#loop = loop;
  }

  add(start: StartTask, isAwaited: boolean): void {
    this.#planned.push({ start, isAwaited });
  }

  /** Called within an event of the loop. */
  begin(): void {
    if (this.#planned.length === 0) return;
    const planned = this.#planned;
    this.#planned = [];
    for (const { start, isAwaited } of planned) this.#begin(start, isAwaited);
  }

  /** Resolves when no task is under way that a listener waits for. */
  async settled(): Promise<void> {
    this.#loop.run(undefined, () => this.begin());
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  #begin(start: StartTask, isAwaited: boolean): void {
    if (!isAwaited) return start(() => undefined);
    let isOpen = true;
    this.#open++;
    start(() => {
      if (!isOpen) return;
      isOpen = false;
      this.#open--;
      if (this.#open > 0) return;
      const waiters = this.#waiters;
      this.#waiters = [];
      for (const resolve of waiters) resolve();
    });
  }
}
