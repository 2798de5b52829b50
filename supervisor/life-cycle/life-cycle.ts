/**
 * The life of one server process as one union of phases with one door between them. Everything that
 * depends on where the server is (`/ready`, `server.state`, the log, a service manager) subscribes
 * here; nobody keeps a flag of its own.
 */
import { assert } from '../../shared/process/assert.ts';

export type Phase =
  /** Reading and checking the configuration. Nothing is open, nobody was told anything. */
  | 'loading'
  /** The configuration is good; admin answers, clusters wait for their first hosts. */
  | 'warming'
  /** Clusters may be used; sockets are bound, listeners wait for what they need. */
  | 'initializing'
  /** Workers accept on every listener. */
  | 'live'
  /** Workers still serve, but close connections as they can; the end follows or is undone. */
  | 'draining'
  /** Told to end: workers stop, logs and statistics are written for the last time. */
  | 'terminating'
  /** Nothing runs any more; the process is about to exit. */
  | 'ended';

const allowed: Readonly<Record<Phase, readonly Phase[]>> = {
  loading: ['warming', 'terminating'],
  warming: ['initializing', 'terminating'],
  initializing: ['live', 'terminating'],
  live: ['draining', 'terminating'],
  draining: ['live', 'terminating'],
  terminating: ['ended'],
  ended: [],
};

export interface PhaseChange {
  readonly from: Phase;
  readonly to: Phase;
}

export class LifeCycle {
  #phase: Phase = 'loading';
  readonly #subscribers = new Set<(change: PhaseChange) => void>();

  get phase(): Phase {
    return this.#phase;
  }

  /** Whether the end has begun, after which nothing new is started. */
  get isEnding(): boolean {
    return this.#phase === 'terminating' || this.#phase === 'ended';
  }

  /**
   * The only way from one phase to another. Asserts that the step is one of the allowed ones, then
   * tells every subscriber, in the order of subscription.
   */
  transition(to: Phase): void {
    const from = this.#phase;
    assert(allowed[from].includes(to), `no way from phase ${from} to ${to}`);
    this.#phase = to;
    for (const subscriber of this.#subscribers) subscriber({ from, to });
  }

  /** Returns the way to unsubscribe. */
  subscribe(subscriber: (change: PhaseChange) => void): () => void {
    this.#subscribers.add(subscriber);
    return () => void this.#subscribers.delete(subscriber);
  }
}
