/**
 * Stops reading from a host while nobody takes what it sends: the windows of its streams are large, so
 * that it would fill this process's memory, where a socket that is not read holds the host up itself.
 * That is so only while every stream of the connection is paused with its request sent, so that
 * nothing else is expected of the host, and not for long: what a host asks has to be answered.
 */
import { LoopTimer, type TimerList, type TimerOwner } from '../../loop/timers.ts';
import type { Wire } from '../../net/wire.ts';

/** Then it is read on, as far as the windows go, until a stream goes on. */
export const HOST_PAUSE_MS = 1000;

export class HostPause implements TimerOwner {
  readonly #wire: Pick<Wire, 'pauseReading'>;
  readonly #limit: TimerList;
  readonly #timer = new LoopTimer(this, 0);
  #pausedStreams = 0;
  #isPaused = false;
  /** The present standstill was long enough. */
  #isOver = false;

  constructor(wire: Pick<Wire, 'pauseReading'>, limit: TimerList) {
    this.#wire = wire;
    this.#limit = limit;
  }

  /** A stream whose request is sent was paused, or one of those goes on or has ended. */
  change(paused: boolean, openStreams: number): void {
    this.#pausedStreams += paused ? 1 : -1;
    if (!paused) this.#isOver = false;
    this.weigh(openStreams);
  }

  /** The number of open streams is another one. */
  weigh(openStreams: number): void {
    const isStill = openStreams > 0 && this.#pausedStreams === openStreams;
    if (!isStill) this.#isOver = false;
    const isPaused = isStill && !this.#isOver;
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#limit.arm(this.#timer);
    else this.#timer.disarm();
    this.#wire.pauseReading(isPaused);
  }

  /** Something is expected of the host. */
  readOn(): void {
    if (!this.#isPaused) return;
    this.#isOver = true;
    this.#isPaused = false;
    this.#timer.disarm();
    this.#wire.pauseReading(false);
  }

  onTimer(): void {
    this.readOn();
  }

  onException(): void {
    this.readOn();
  }
}
