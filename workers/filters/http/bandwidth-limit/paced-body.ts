/**
 * One body that goes on no faster than its bucket of bytes allows. What has to wait is kept up to a
 * limit, beyond which the sender is told to wait.
 */
import { CollectedBytes } from '../../../../shared/bytes/collected-bytes.ts';
import type { HeldBytes } from '../../../loop/held-bytes.ts';
import { LoopTimer, type LoopTimers, type TimerOwner } from '../../../loop/timers.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { TokenBucket } from '../../common/token-bucket.ts';

export interface PacedBodyOwner {
  onPace(data: Buffer, endStream: boolean): void;
  onPacedTrailers(trailers: HeaderMap): void;
  /** The sender is to wait, or goes on. */
  onBacklog(isFull: boolean): void;
  /** `allowed` bytes went on, and whether others have to wait. */
  onAllowed(allowed: number, waits: boolean): void;
  onException(): void;
}

export interface Pace {
  readonly bucket: TokenBucket;
  /** Bytes of the first moment, and of each one after it. */
  readonly bytesPerFill: number;
  readonly fillIntervalMs: number;
  readonly bufferLimitBytes: number;
  readonly timers: LoopTimers;
  readonly held: HeldBytes;
  readonly now: () => number;
}

const NOTHING = Buffer.alloc(0);

export class PacedBody implements TimerOwner {
  readonly #pace: Pace;
  readonly #owner: PacedBodyOwner;
  readonly #timer = new LoopTimer(this, 0);
  readonly #waiting = new CollectedBytes();
  #trailers: HeaderMap | undefined = undefined;
  #endsWithBody = false;
  #isPaused = false;

  constructor(pace: Pace, owner: PacedBodyOwner) {
    this.#pace = pace;
    this.#owner = owner;
    pace.bucket.startWith(pace.bytesPerFill, pace.now());
  }

  write(data: Buffer, endStream: boolean): void {
    this.#endsWithBody ||= endStream;
    if (data.length > 0) {
      this.#waiting.addCopy(data);
      this.#pace.held.add(data.length);
    }
    if (!this.#timer.isArmed) this.#send();
    this.#tellBacklog();
  }

  /** They go on behind what waits. */
  end(trailers: HeaderMap): void {
    this.#trailers = trailers;
    if (!this.#timer.isArmed) this.#send();
  }

  onTimer(): void {
    this.#send();
    this.#tellBacklog();
  }

  onException(): void {
    this.#owner.onException();
  }

  destroy(): void {
    this.#timer.disarm();
    this.#pace.held.add(-this.#waiting.length);
    this.#waiting.clear();
  }

  #send(): void {
    const { bucket, fillIntervalMs, timers, now } = this.#pace;
    const waiting = this.#waiting.length;
    const allowed = waiting === 0 ? 0 : bucket.takeUpTo(waiting, now());
    const data = this.#cut(allowed);
    const waits = this.#waiting.length > 0;
    if (waits) timers.list(fillIntervalMs).arm(this.#timer);
    this.#owner.onAllowed(allowed, waits);
    const endStream = this.#endsWithBody && !waits;
    const trailers = waits ? undefined : this.#trailers;
    if (data.length > 0 || endStream) this.#owner.onPace(data, endStream);
    if (trailers === undefined) return;
    this.#trailers = undefined;
    this.#owner.onPacedTrailers(trailers);
  }

  #cut(length: number): Buffer {
    if (length === 0) return NOTHING;
    const whole = this.#waiting.joined();
    this.#waiting.clear();
    this.#waiting.add(whole.subarray(length));
    this.#pace.held.add(-length);
    return whole.subarray(0, length);
  }

  #tellBacklog(): void {
    const isFull = this.#waiting.length >= this.#pace.bufferLimitBytes;
    if (isFull === this.#isPaused) return;
    this.#isPaused = isFull;
    this.#owner.onBacklog(isFull);
  }
}
