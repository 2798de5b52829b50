/** Requests for what another one is fetching already: they wait for it, and fetch nothing. */

import type { Endable } from '../../../../shared/process/exceptions.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';

/** `kept`: it is in the cache now; `unkept`: it cannot be; `failed`: nobody knows. */
export type Landing = 'kept' | 'unkept' | 'failed';

export interface Passenger extends Endable {
  onLanding(landing: Landing): void;
}

export class Flights {
  readonly #flights = new Map<string, Set<Passenger>>();

  /** Whether somebody fetches it, whom the passenger waits for from now on. */
  board(key: string, passenger: Passenger): boolean {
    const passengers = this.#flights.get(key);
    passengers?.add(passenger);
    return passengers !== undefined;
  }

  leave(key: string, passenger: Passenger): void {
    this.#flights.get(key)?.delete(passenger);
  }

  /** The caller fetches it, and says how that went. */
  begin(key: string): void {
    this.#flights.set(key, new Set());
  }

  /** A passenger that throws ends itself alone. */
  land(key: string, landing: Landing, loop: WorkerLoop): void {
    const passengers = this.#flights.get(key);
    this.#flights.delete(key);
    for (const passenger of passengers ?? []) {
      try {
        passenger.onLanding(landing);
      } catch (error) {
        loop.note(error);
        passenger.onException();
      }
    }
  }
}
