/**
 * Which module of an operator each worker runs: one page of shared memory, which workers write and
 * the supervisor reads. Four numbers per worker: the module that runs at the moment, the one that
 * was awaited last and is not settled, both 0 for none, a number that moves as long as the worker's
 * loop turns, and one that is not used.
 */
import { createMemoryFile, mapSharedMemory } from '../posix/shared-memory.ts';

const NUMBERS_PER_WORKER = 4;
const RUNNING = 0;
const AWAITED = 1;
const BEAT = 2;

function bytesFor(workers: number): number {
  return workers * NUMBERS_PER_WORKER * 4;
}

export function createScriptPage(workers: number): number {
  return createMemoryFile('sluice-scripts', bytesFor(workers));
}

/** What a worker writes; `ScriptMarks.apart` for one whose page nobody reads. */
export class ScriptMarks {
  readonly #numbers: Int32Array;
  readonly #at: number;
  #awaited = 0;

  private constructor(numbers: Int32Array, at: number) {
    this.#numbers = numbers;
    this.#at = at;
  }

  static map(fd: number, workers: number, workerIndex: number): ScriptMarks {
    const numbers = new Int32Array(mapSharedMemory(fd, bytesFor(workers)));
    return new ScriptMarks(numbers, workerIndex * NUMBERS_PER_WORKER);
  }

  static apart(): ScriptMarks {
    return new ScriptMarks(new Int32Array(NUMBERS_PER_WORKER), 0);
  }

  /** `id` is above 0. */
  enter(id: number): void {
    this.#numbers[this.#at + RUNNING] = id;
  }

  leave(): void {
    this.#numbers[this.#at + RUNNING] = 0;
  }

  /** What runs after a promise is not marked: the module that waited last is held for it. */
  awaits(id: number): void {
    this.#awaited++;
    this.#numbers[this.#at + AWAITED] = id;
  }

  awaitsNoMore(): void {
    this.#awaited--;
    if (this.#awaited === 0) this.#numbers[this.#at + AWAITED] = 0;
  }

  beat(): void {
    const at = this.#at + BEAT;
    this.#numbers[at] = ((this.#numbers[at] ?? 0) + 1) | 0;
  }
}

export interface SeenMarks {
  /** 0: it runs none. */
  readonly module: number;
  readonly beat: number;
}

/** What the supervisor reads. */
export class ScriptPage {
  readonly #numbers: Int32Array;

  private constructor(numbers: Int32Array) {
    this.#numbers = numbers;
  }

  static map(fd: number, workers: number): ScriptPage {
    return new ScriptPage(new Int32Array(mapSharedMemory(fd, bytesFor(workers))));
  }

  look(workerIndex: number): SeenMarks {
    const at = workerIndex * NUMBERS_PER_WORKER;
    const running = Atomics.load(this.#numbers, at + RUNNING);
    const module = running === 0 ? Atomics.load(this.#numbers, at + AWAITED) : running;
    return { module, beat: Atomics.load(this.#numbers, at + BEAT) };
  }

  /** For the next life of the worker. */
  clear(workerIndex: number): void {
    const at = workerIndex * NUMBERS_PER_WORKER;
    this.#numbers.fill(0, at, at + NUMBERS_PER_WORKER);
  }
}
