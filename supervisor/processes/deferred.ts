/** One step between a worker and the supervisor that others wait for. */
import { CallError } from './pending-calls.ts';

/** A step that happens once, and rejects everybody who waits when it cannot happen any more. */
export class Deferred {
  readonly promise: Promise<void>;
  #settle: { resolve: () => void; reject: (error: CallError) => void } | undefined;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // Nobody waits yet when a worker ends early; a later await still sees the rejection.
    this.promise.catch(() => undefined);
  }

  resolve(): void {
    this.#settle?.resolve();
  }

  reject(reason: string): void {
    this.#settle?.reject(new CallError('process_exited', reason));
  }
}
