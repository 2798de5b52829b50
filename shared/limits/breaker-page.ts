/**
 * What all workers together have open of each limited resource: one page of shared memory. Each
 * worker counts into numbers of its own and adds everybody's up where a limit is to be kept, so
 * that a limit is never exceeded; two that ask in the same moment may both be refused. What a
 * worker that died had open is cleared by the supervisor, which also gives out the slots.
 */
import { createMemoryFile, mapSharedMemory } from '../posix/shared-memory.ts';
import { RATE_LIMIT_SLOTS_MAX } from './rate-limit-page.ts';

export const LIMITED_RESOURCES = [
  'connections',
  'pendingRequests',
  'requests',
  'retries',
  'pools',
] as const;

export type LimitedResource = (typeof LIMITED_RESOURCES)[number];

/** A switch, because it costs nothing where the caller names the resource. */
function offsetOf(resource: LimitedResource): number {
  switch (resource) {
    case 'connections':
      return 0;
    case 'pendingRequests':
      return 1;
    case 'requests':
      return 2;
    case 'retries':
      return 3;
    case 'pools':
      return 4;
  }
}
/** A bit per resource that the worker had open at any time. */
const USED = 5;
const SLOT_NUMBERS = 8;
/** Two for each of 65,536 clusters; a cluster without slots is limited within each worker alone. */
const BREAKER_SLOTS_MAX = 1 << 17;
/**
 * Behind them: connections that are limited under a name, whose slots the rate limit page gives
 * out.
 */
const SLOTS_MAX = BREAKER_SLOTS_MAX + RATE_LIMIT_SLOTS_MAX;
const NUMBERS_PER_WORKER = SLOTS_MAX * SLOT_NUMBERS;

/** Counts downstream connections; it is nobody else's. */
export const DOWNSTREAM_SLOT = BREAKER_SLOTS_MAX - 1;

/** Memory that nobody touched costs nothing. */
export function createBreakerPage(workers: number): number {
  return createMemoryFile('sluice-breakers', workers * NUMBERS_PER_WORKER * 4);
}

export class BreakerPage {
  readonly #numbers: Int32Array;
  readonly #workers: number;
  /** From one worker's numbers to the next one's. */
  readonly #stride: number;

  private constructor(numbers: Int32Array, workers: number) {
    this.#numbers = numbers;
    this.#workers = workers;
    this.#stride = numbers.length / workers;
  }

  static map(fd: number, workers: number): BreakerPage {
    const bytes = workers * NUMBERS_PER_WORKER * 4;
    return new BreakerPage(new Int32Array(mapSharedMemory(fd, bytes)), workers);
  }

  /** Where connections are counted whose limit has this slot in the rate limit page. */
  static namedSlot(slot: number): number {
    return BREAKER_SLOTS_MAX + slot;
  }

  /** One slot that nobody else sees. */
  static single(): BreakerPage {
    return new BreakerPage(new Int32Array(SLOT_NUMBERS), 1);
  }

  add(worker: number, slot: number, resource: LimitedResource, change: number): void {
    Atomics.add(this.#numbers, this.#at(worker, slot) + offsetOf(resource), change);
  }

  /** What all workers have open. */
  count(slot: number, resource: LimitedResource): number {
    let at = slot * SLOT_NUMBERS + offsetOf(resource);
    let sum = 0;
    for (let worker = 0; worker < this.#workers; worker++, at += this.#stride) {
      sum += Atomics.load(this.#numbers, at);
    }
    return sum;
  }

  /** What one worker has open. */
  countOf(worker: number, slot: number, resource: LimitedResource): number {
    return Atomics.load(this.#numbers, this.#at(worker, slot) + offsetOf(resource));
  }

  /** Notes that the resource is in use, which it counts as from then on. */
  markUsed(worker: number, slot: number, resource: LimitedResource): void {
    Atomics.or(this.#numbers, this.#at(worker, slot) + USED, 1 << offsetOf(resource));
  }

  wasUsed(slot: number, resource: LimitedResource): boolean {
    let at = slot * SLOT_NUMBERS + USED;
    for (let worker = 0; worker < this.#workers; worker++, at += this.#stride) {
      if (((this.#numbers[at] ?? 0) & (1 << offsetOf(resource))) !== 0) return true;
    }
    return false;
  }

  /** Whether any of its resources was used. */
  wasAnyUsed(slot: number): boolean {
    let at = slot * SLOT_NUMBERS + USED;
    for (let worker = 0; worker < this.#workers; worker++, at += this.#stride) {
      if ((this.#numbers[at] ?? 0) !== 0) return true;
    }
    return false;
  }

  /** A worker has nothing open any more. What was used stays so. */
  clear(worker: number, slot: number): void {
    for (const resource of LIMITED_RESOURCES) {
      Atomics.store(this.#numbers, this.#at(worker, slot) + offsetOf(resource), 0);
    }
  }

  /** A worker has none of the connections open any more that are limited under names. */
  clearNamed(worker: number): void {
    const first = this.#at(worker, BREAKER_SLOTS_MAX);
    this.#numbers.fill(0, first, this.#at(worker, SLOTS_MAX));
  }

  /** Nothing is open and nothing was: the slot is another's now. */
  reset(slot: number): void {
    for (let worker = 0; worker < this.#workers; worker++) {
      this.clear(worker, slot);
      Atomics.store(this.#numbers, this.#at(worker, slot) + USED, 0);
    }
  }

  #at(worker: number, slot: number): number {
    return worker * this.#stride + slot * SLOT_NUMBERS;
  }
}
