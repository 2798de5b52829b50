/**
 * Closes connections as an operator orders: a share of those that a filter means, each at a random
 * moment of a time, so that clients do not all come back at once.
 */
import type { CloseOrder } from '../../shared/connections/connections.ts';
import type { Clock } from '../../shared/process/clock.ts';
import type { OpenConnection } from '../listener/open-connections.ts';
import { runInSlices, sortInSteps, type Steps } from '../loop/sliced-work.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { ConnectionWalks, FoundConnection } from './connection-walks.ts';

/** Orders at once; a further one is refused. */
const CLOSINGS_MAX = 16;
/** Connections that are closed in one go; the others follow in the next turn. */
const CLOSED_AT_ONCE = 64;
const NEXT_TURN_MS = 1;

interface ClosingParts {
  readonly loop: WorkerLoop;
  readonly clock: Clock;
  readonly walks: ConnectionWalks;
  readonly random: () => number;
}

/** One connection's end. */
interface Due {
  readonly atMs: number;
  readonly place: OpenConnection;
}

export class Closings {
  readonly #parts: ClosingParts;
  readonly #running = new Set<Closing>();
  #beginning = 0;

  constructor(parts: ClosingParts) {
    this.#parts = parts;
  }

  /** Resolves with the number of connections that were chosen; rejects when there are too many orders. */
  async begin(order: CloseOrder): Promise<number> {
    if (this.#running.size + this.#beginning >= CLOSINGS_MAX) {
      throw new Error(`${CLOSINGS_MAX} orders to close connections are under way`);
    }
    this.#beginning += 1;
    try {
      const due = await runInSlices(this.#parts.loop, this.#choose(order));
      const closing = new Closing(order, due, this.#parts, () => this.#running.delete(closing));
      this.#running.add(closing);
      closing.act();
      return due.length;
    } finally {
      this.#beginning -= 1;
    }
  }

  *#choose({ filter, sharePercent, overMs }: CloseOrder): Steps<readonly Due[]> {
    const { walks, clock, random } = this.#parts;
    const found = yield* walks.matches(filter);
    // A part of a connection is one with its probability: shares of all workers add up.
    const count = Math.min(
      found.length,
      Math.floor((found.length * sharePercent) / 100 + random()),
    );
    const nowMs = clock.monotonicMs();
    const due: Due[] = [];
    for (let at = 0; at < count; at++) {
      const other = at + Math.floor(random() * (found.length - at));
      const { place } = found[other] as FoundConnection;
      found[other] = found[at] as FoundConnection;
      due.push({ atMs: nowMs + random() * overMs, place });
      if (at % CLOSED_AT_ONCE === 0) yield;
    }
    yield* sortInSteps(due, (left, right) => left.atMs - right.atMs);
    return due;
  }
}

/** One order that is carried out. */
class Closing {
  readonly #order: CloseOrder;
  readonly #due: readonly Due[];
  readonly #parts: ClosingParts;
  readonly #onEnd: () => void;
  /** Those that were asked to go, in the order in which their time ends. */
  readonly #asked: Due[] = [];
  #next = 0;
  #nextAsked = 0;

  constructor(order: CloseOrder, due: readonly Due[], parts: ClosingParts, onEnd: () => void) {
    this.#order = order;
    this.#due = due;
    this.#parts = parts;
    this.#onEnd = onEnd;
  }

  /** Closes what is due, and waits for the rest. */
  act(): void {
    const { loop, clock } = this.#parts;
    const nowMs = clock.monotonicMs();
    const isAsking = !this.#order.cuts;
    for (let left = CLOSED_AT_ONCE; left > 0; left--) {
      const due = this.#takeDue(nowMs);
      if (due === undefined) break;
      const { connection } = due.place;
      if (connection === undefined) continue;
      loop.run({ onException: () => connection.close() }, () => {
        if (due.isLast || !isAsking || connection.closeGracefully === undefined) connection.close();
        else connection.closeGracefully();
      });
    }
    this.#wait(nowMs);
  }

  #takeDue(nowMs: number): (Due & { readonly isLast: boolean }) | undefined {
    const { cutAfterMs, cuts } = this.#order;
    const asked = this.#asked[this.#nextAsked];
    if (asked !== undefined && asked.atMs <= nowMs) {
      this.#nextAsked += 1;
      return { ...asked, isLast: true };
    }
    const due = this.#due[this.#next];
    if (due === undefined || due.atMs > nowMs) return undefined;
    this.#next += 1;
    if (cutAfterMs !== undefined && !cuts) {
      this.#asked.push({ atMs: nowMs + cutAfterMs, place: due.place });
    }
    return { ...due, isLast: false };
  }

  #wait(nowMs: number): void {
    const next = Math.min(
      this.#due[this.#next]?.atMs ?? Number.POSITIVE_INFINITY,
      this.#asked[this.#nextAsked]?.atMs ?? Number.POSITIVE_INFINITY,
    );
    if (next === Number.POSITIVE_INFINITY) return this.#onEnd();
    const delayMs = Math.max(NEXT_TURN_MS, Math.ceil(next - nowMs));
    this.#parts.clock.after(delayMs, () => this.act(), { unref: true });
  }
}
