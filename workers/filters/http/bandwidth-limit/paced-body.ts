/**
 * One body that goes on no faster than its bucket of bytes allows. What has to wait is kept up to a
 * limit, beyond which the sender is told to wait.
 */
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
  #pieces: Buffer[] = [];
  #bytes = 0;
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
      this.#pieces.push(Buffer.from(data));
      this.#count(data.length);
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
    this.#pieces = [];
    this.#count(-this.#bytes);
  }

  #send(): void {
    const { bucket, fillIntervalMs, timers, now } = this.#pace;
    const allowed = this.#bytes === 0 ? 0 : bucket.takeUpTo(this.#bytes, now());
    const data = this.#cut(allowed);
    const waits = this.#bytes > 0;
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
    const whole = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    if (whole === undefined) return NOTHING;
    const rest = whole.subarray(length);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#count(-length);
    return whole.subarray(0, length);
  }

  #count(change: number): void {
    this.#bytes += change;
    this.#pace.held.add(change);
  }

  #tellBacklog(): void {
    const isFull = this.#bytes >= this.#pace.bufferLimitBytes;
    if (isFull === this.#isPaused) return;
    this.#isPaused = isFull;
    this.#owner.onBacklog(isFull);
  }
}
