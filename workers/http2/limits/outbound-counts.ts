/**
 * Frames that wait for the peer to read them, as Envoy counts them: all that one read of its frames
 * brought forth, and all that is written while it does not read. Too many end the connection.
 */
import type { Flood } from './inbound-limits.ts';

export interface OutboundLimits {
  /** Of any type. */
  readonly maxOutboundFrames: number;
  /** Those that answer the peer: SETTINGS, PING and RST_STREAM. */
  readonly maxOutboundControlFrames: number;
}

export interface OutboundUser {
  /** The peer reads nothing and asks on: the connection must end. */
  flood(flood: Flood): void;
}

export class OutboundCounts {
  readonly #limits: OutboundLimits;
  readonly #user: OutboundUser;
  #isReading = false;
  #isBlocked = false;
  #frames = 0;
  #controlFrames = 0;

  constructor(limits: OutboundLimits, user: OutboundUser) {
    this.#limits = limits;
    this.#user = user;
  }

  /** The kernel takes no more. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  set isBlocked(isBlocked: boolean) {
    this.#isBlocked = isBlocked;
    if (!isBlocked && !this.#isReading) this.#forget();
  }

  beginRead(): void {
    this.#isReading = true;
  }

  /** Judged only now, all frames together: which limit is named depends on it. */
  endRead(): void {
    this.#isReading = false;
    this.#judge();
    if (!this.#isBlocked) this.#forget();
  }

  /** What leaves at once does not count. */
  written(isControl: boolean): void {
    if (!this.#isReading && !this.#isBlocked) return;
    this.#frames++;
    if (isControl) this.#controlFrames++;
    if (!this.#isReading) this.#judge();
  }

  #judge(): void {
    const { maxOutboundFrames, maxOutboundControlFrames } = this.#limits;
    if (this.#frames > maxOutboundFrames) this.#user.flood('outbound');
    else if (this.#controlFrames > maxOutboundControlFrames) this.#user.flood('outbound_control');
  }

  #forget(): void {
    this.#frames = 0;
    this.#controlFrames = 0;
  }
}
