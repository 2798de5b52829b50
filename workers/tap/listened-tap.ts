/**
 * A tap that no configuration has: a client of `/tap/listen` wants to see what passes at listeners,
 * for a short time.
 */
import { randomBytes } from 'node:crypto';
import { compileClient } from '../../shared/addresses/client-match.ts';
import type { TapListenOrder } from '../../shared/resources/tap.ts';
import type { Watch } from '../net/transport-watcher.ts';
import type { ActiveTap } from './request-tap.ts';
import { SocketTap } from './socket-tap.ts';

/** What a share is of. */
const WHOLE = 1_000_000;

export class ListenedTap {
  readonly tap: ActiveTap;
  readonly #order: TapListenOrder;
  readonly #isClient: (ip: string) => boolean;
  readonly #nowMs: () => number;

  constructor(tap: ActiveTap, order: TapListenOrder, nowMs: () => number) {
    this.tap = tap;
    this.#order = order;
    this.#isClient = compileClient(order.client);
    this.#nowMs = nowMs;
  }

  hearsRequests(listener: string): boolean {
    return this.#order.of === 'requests' && this.#isMeant(listener);
  }

  /** Whether this request, or connection, is one of those that are recorded. */
  takes(ip: string): boolean {
    if (!this.#isClient(ip)) return false;
    const { share } = this.#order;
    return share >= WHOLE || randomBytes(4).readUInt32LE() % WHOLE < share;
  }

  /** Undefined: connections of this listener are not recorded. */
  connections(listener: string): Watch | undefined {
    if (this.#order.of !== 'connections' || !this.#isMeant(listener)) return undefined;
    return (addresses) => {
      if (!this.takes(addresses.remoteAddress ?? '')) return undefined;
      return new SocketTap({
        tap: this.tap,
        traceId: randomBytes(8).readBigUInt64LE(),
        addresses,
        connectionPerEvent: false,
        counted: () => undefined,
        nowMs: this.#nowMs,
      });
    };
  }

  #isMeant(listener: string): boolean {
    return this.#order.listener === undefined || this.#order.listener === listener;
  }
}
