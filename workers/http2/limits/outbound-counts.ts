/**
 * Frames that wait for the peer to read them, as Envoy counts them: all that one read of its frames
 * brought forth, and all that is written while the kernel does not take everything. Too many end the
 * connection; those that wait beyond a turn of the loop are in the gauges.
 */
import type { Wire, WriteObserver } from '../../net/wire.ts';
import type { Flood } from './inbound-limits.ts';

export interface OutboundLimits {
  /** The limit of frames of any type. */
  readonly maxOutboundFrames: number;
  /** Those that answer the peer: SETTINGS, PING and RST_STREAM. */
  readonly maxOutboundControlFrames: number;
}

export interface OutboundUser {
  /** There is room again for what may wait. */
  drain(): void;
  /** The peer reads nothing and asks on: the connection must end. */
  flood(flood: Flood): void;
}

/** What waits to be sent, of all connections together. */
export interface OutboundGauges {
  change(
    name: 'outbound_frames_active' | 'outbound_control_frames_active' | 'pending_send_bytes',
    by: number,
  ): void;
}

export class OutboundCounts implements WriteObserver {
  readonly #limits: OutboundLimits;
  readonly #user: OutboundUser;
  readonly #gauges: OutboundGauges;
  /** The wire says what has left; where it does not, only a full one is known. */
  #seesTurns = false;
  #isReading = false;
  #isBlocked = false;
  #isWaiting = false;
  /** Written and perhaps not sent, since the kernel had everything. */
  #frames = 0;
  #controlFrames = 0;
  /** The number of them written in this turn before the present read: they leave at once. */
  #framesBefore = 0;
  #controlFramesBefore = 0;
  /** What the gauges hold. */
  #shownFrames = 0;
  #shownControlFrames = 0;

  constructor(limits: OutboundLimits, user: OutboundUser, gauges: OutboundGauges) {
    this.#limits = limits;
    this.#user = user;
    this.#gauges = gauges;
  }

  /** From now on frames of one turn leave in one write. */
  begin(wire: Wire): void {
    this.#seesTurns = wire.gatherTurns?.(this) ?? false;
  }

  /** The wire's limit is reached. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  set isBlocked(isBlocked: boolean) {
    this.#isBlocked = isBlocked;
    this.#changed();
  }

  /**
   * DATA has to wait, and leaves in larger frames: what a host sends in small ones is no flood of the
   * peer's, where Envoy ends the connection.
   */
  get isFull(): boolean {
    return (
      this.#isBlocked || (this.#isWaiting && this.#frames * 2 > this.#limits.maxOutboundFrames)
    );
  }

  onWritten(isWaiting: boolean): void {
    const wasFull = this.isFull;
    this.#isWaiting = isWaiting;
    if (!isWaiting) this.#isBlocked = false;
    this.#changed();
    if (wasFull && !isWaiting) this.#user.drain();
  }

  onWritesOver(): void {
    this.#isWaiting = this.#isBlocked = false;
    this.#forget();
  }

  beginRead(): void {
    this.#isReading = true;
    if (this.#isHeld) return;
    this.#framesBefore = this.#frames;
    this.#controlFramesBefore = this.#controlFrames;
  }

  /** Judged only now, all frames together: which limit is named depends on it. */
  endRead(): void {
    this.#isReading = false;
    this.#judge();
    if (this.#isHeld) this.#show();
    else if (!this.#seesTurns || this.#shownFrames > 0) this.#forget();
  }

  written(isControl: boolean): void {
    const isHeld = this.#isHeld;
    if (!this.#seesTurns && !isHeld && !this.#isReading) return;
    this.#frames++;
    if (isControl) this.#controlFrames++;
    if (this.#isReading || !isHeld) return;
    this.#show();
    this.#judge();
  }

  get #isHeld(): boolean {
    return this.#isBlocked || this.#isWaiting;
  }

  #changed(): void {
    if (this.#isHeld) {
      this.#framesBefore = this.#controlFramesBefore = 0;
      this.#show();
    } else if (!this.#isReading) this.#forget();
  }

  #judge(): void {
    const { maxOutboundFrames, maxOutboundControlFrames } = this.#limits;
    const controlFrames = this.#controlFrames - this.#controlFramesBefore;
    if (this.#frames - this.#framesBefore > maxOutboundFrames) this.#user.flood('outbound');
    else if (controlFrames > maxOutboundControlFrames) this.#user.flood('outbound_control');
  }

  #show(): void {
    const frames = this.#frames - this.#shownFrames;
    const controlFrames = this.#controlFrames - this.#shownControlFrames;
    if (frames === 0 && controlFrames === 0) return;
    this.#shownFrames = this.#frames;
    this.#shownControlFrames = this.#controlFrames;
    this.#gauges.change('outbound_frames_active', frames);
    this.#gauges.change('outbound_control_frames_active', controlFrames);
  }

  #forget(): void {
    this.#frames = this.#controlFrames = 0;
    this.#framesBefore = this.#controlFramesBefore = 0;
    if (this.#shownFrames > 0) this.#show();
  }
}
