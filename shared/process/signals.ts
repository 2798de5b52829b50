/**
 * What a process does first of all: take every signal that a terminal or a service manager sends to
 * a whole process group, and keep Node's inspector closed. Loaded before anything that takes time.
 */
import inspector from 'node:inspector';

/** Signals that end or disturb a process which has no handler for them. */
const groupSignals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1'] as const;
export type GroupSignal = (typeof groupSignals)[number];

/** Calls `receive` for each of these signals from now on. */
export function takeGroupSignals(receive: (signal: GroupSignal) => void): void {
  for (const signal of groupSignals) process.on(signal, () => receive(signal));
  closeUnaskedInspector();
  setImmediate(closeUnaskedInspector);
}

/**
 * Node opens its inspector when SIGUSR1 arrives before a handler is there, and does so from another
 * thread some time later. Closes it unless the command line asked for one; call it after each step
 * of the start.
 */
export function closeUnaskedInspector(): void {
  if (inspector.url() === undefined) return;
  const isAsked = process.execArgv.some((word) => /^--inspect(-brk|-wait)?(=|$)/.test(word));
  if (!isAsked) inspector.close();
}

/** Takes the signals at once and keeps them until somebody is there to receive them. */
export class SignalInbox {
  readonly #waiting: GroupSignal[] = [];
  #receive: ((signal: GroupSignal) => void) | undefined;

  constructor() {
    takeGroupSignals((signal) => {
      if (this.#receive === undefined) this.#waiting.push(signal);
      else this.#receive(signal);
    });
  }

  /** Delivers what has come so far, and everything that comes, to one receiver. */
  deliverTo(receive: (signal: GroupSignal) => void): void {
    this.#receive = receive;
    for (const signal of this.#waiting.splice(0)) receive(signal);
  }
}
