/**
 * Requests that wait until the supervisor has asked a control plane for the virtual host or the
 * scope that they need. Every request hears once; whether there are routes now it looks for itself.
 */
import type { WantedRoutes } from '../../shared/resources/routes/wanted-routes.ts';

export interface RouteWaiter {
  onRoutesAnswer(): void;
}

/** More than a worker gives out in its life. */
const TICKETS_PER_WORKER = 2 ** 40;
/** Requests that wait at a time; further ones are answered as if there was nothing to wait for. */
const WAITING_LIMIT = 10_000;

export class RouteDemand {
  readonly #ask: (wanted: WantedRoutes, ticket: number) => void;
  readonly #waiting = new Map<number, RouteWaiter>();
  #lastTicket: number;

  constructor(workerIndex: number, ask: (wanted: WantedRoutes, ticket: number) => void) {
    this.#ask = ask;
    this.#lastTicket = workerIndex * TICKETS_PER_WORKER;
  }

  /** Returns the ticket to leave with; undefined when too many wait. */
  wait(wanted: WantedRoutes, waiter: RouteWaiter): number | undefined {
    if (this.#waiting.size >= WAITING_LIMIT) return undefined;
    const ticket = ++this.#lastTicket;
    this.#waiting.set(ticket, waiter);
    this.#ask(wanted, ticket);
    return ticket;
  }

  leave(ticket: number): void {
    this.#waiting.delete(ticket);
  }

  answered(tickets: readonly number[]): void {
    for (const ticket of tickets) {
      const waiter = this.#waiting.get(ticket);
      if (waiter === undefined) continue;
      this.#waiting.delete(ticket);
      waiter.onRoutesAnswer();
    }
  }
}
