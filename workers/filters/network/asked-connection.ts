/**
 * A connection that waits while a service is asked about it: the answer decides once, whether it
 * comes within the question, later, or not at all because the connection has gone.
 */
import type { GrpcRequest } from '../../services/grpc-services.ts';
import type { Resume, Waiting } from '../network-gate.ts';

export class AskedConnection implements Waiting {
  readonly #resume: Resume;
  readonly #onOver: () => void;
  #call: GrpcRequest | undefined = undefined;
  #isSending = true;
  #isOver = false;
  /** Given while the question was still being sent. */
  #early: boolean | undefined = undefined;

  /** `onOver` is called once, when nothing is waited for any more. */
  constructor(resume: Resume, onOver: () => void) {
    this.#resume = resume;
    this.#onOver = onOver;
  }

  ask(send: (asked: AskedConnection) => GrpcRequest): boolean | Waiting {
    const call = send(this);
    this.#isSending = false;
    if (this.#early !== undefined) return this.#early;
    this.#call = call;
    return this;
  }

  decide(mayPass: boolean): void {
    if (!this.#end()) return;
    if (this.#isSending) this.#early = mayPass;
    else this.#resume(mayPass);
  }

  /** Code that worked for the answer threw, whether or not it had decided. */
  onException(): void {
    this.#end();
    if (this.#isSending) this.#early = false;
    else this.#resume(false);
  }

  cancel(): void {
    if (this.#end()) this.#call?.cancel();
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#onOver();
    return true;
  }
}
