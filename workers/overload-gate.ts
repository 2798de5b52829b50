/** Whether this worker takes one more piece of work while the server is overloaded. */
import { CALM, type OverloadState } from '../shared/resources/overload.ts';

export class OverloadGate {
  readonly #random: () => number;
  state: OverloadState = CALM;

  /** `random` is from 0 to 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  refusesRequest(): boolean {
    return this.#falls(this.state.refusedRequests);
  }

  endsKeepalive(): boolean {
    return this.#falls(this.state.endedKeepalives);
  }

  rejectsConnection(): boolean {
    return this.#falls(this.state.rejectedConnections);
  }

  #falls(share: number): boolean {
    return share > 0 && (share >= 1 || this.#random() < share);
  }
}
