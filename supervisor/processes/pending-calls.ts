/**
 * Calls over a channel that await their reply: each has an id and a deadline, and all reject when
 * the process at the other end is gone. Knows no channel and sends nothing.
 */
import type { Clock, Timer } from '../../shared/process/clock.ts';

export type CallErrorCode = 'deadline_exceeded' | 'process_exited';

export class CallError extends Error {
  readonly code: CallErrorCode;

  constructor(code: CallErrorCode, message: string) {
    super(message);
    this.name = 'CallError';
    this.code = code;
  }
}

interface PendingCall<Reply> {
  readonly what: string;
  readonly timer: Timer;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: CallError) => void;
}

export class PendingCalls<Reply> {
  readonly #clock: Clock;
  readonly #calls = new Map<number, PendingCall<Reply>>();
  #lastId = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Opens a call; `what` is its message kind, for the error text. Ids start at 1. */
  open(what: string, limitMs: number): { readonly id: number; readonly reply: Promise<Reply> } {
    this.#lastId += 1;
    const id = this.#lastId;
    const reply = new Promise<Reply>((resolve, reject) => {
      const expire = (): void => {
        if (!this.#calls.delete(id)) return;
        reject(new CallError('deadline_exceeded', `no answer to ${what} within ${limitMs} ms`));
      };
      // Where this process was held up, the answer may have come in time and wait to be read.
      const timer = this.#clock.after(limitMs, () => void setImmediate(expire));
      this.#calls.set(id, { what, timer, resolve, reject });
    });
    return { id, reply };
  }

  /** Delivers a reply. One that comes after its deadline is dropped; false says so. */
  settle(id: number, reply: Reply): boolean {
    const call = this.#calls.get(id);
    if (call === undefined) return false;
    this.#calls.delete(id);
    call.timer.cancel();
    call.resolve(reply);
    return true;
  }

  /** Rejects everything that is open, because of `reason`. */
  rejectAll(reason: string): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) {
      call.timer.cancel();
      call.reject(new CallError('process_exited', `no answer to ${call.what}: ${reason}`));
    }
  }
}
