/**
 * What a peer may send that costs it little and this side something: empty frames, PRIORITY and
 * WINDOW_UPDATE frames. Source: Envoy's `Http2ProtocolOptions`, with its defaults and names.
 */
export interface InboundLimits {
  readonly maxConsecutiveEmptyFrames: number;
  readonly maxPriorityFramesPerStream: number;
  readonly maxWindowUpdatesPerDataFrame: number;
  /** Absent towards hosts. */
  readonly resets?: ResetLimits;
}

/** RST_STREAM frames: so many at once, and so many more in each second. */
interface ResetLimits {
  readonly burst: number;
  readonly rate: number;
  readonly clock: { readonly ms: number };
}

export type InboundFlood = 'empty_frames' | 'priority_frames' | 'window_update_frames';
/** Frames of a peer that cost too much, or answers to it that it does not read. */
export type Flood = InboundFlood | 'outbound' | 'outbound_control';

export class InboundCounts {
  readonly #limits: InboundLimits;
  #emptyFrames = 0;
  #priorityFrames = 0;
  #windowUpdates = 0;
  #streams = 0;
  #dataFramesSent = 0;
  /** RST_STREAM frames that may come, as of this second. */
  #resetsLeft: number;
  #resetSecond = 0;

  constructor(limits: InboundLimits) {
    this.#limits = limits;
    this.#resetsLeft = limits.resets?.burst ?? 0;
  }

  streamOpened(): void {
    this.#streams++;
  }

  dataFrameSent(): void {
    this.#dataFramesSent++;
  }

  /** A frame with content or with an end of a stream. */
  fullFrame(): void {
    this.#emptyFrames = 0;
  }

  emptyFrame(): InboundFlood | undefined {
    this.#emptyFrames++;
    return this.#emptyFrames > this.#limits.maxConsecutiveEmptyFrames ? 'empty_frames' : undefined;
  }

  priorityFrame(): InboundFlood | undefined {
    this.#priorityFrames++;
    const most = this.#limits.maxPriorityFramesPerStream * (1 + this.#streams);
    return this.#priorityFrames > most ? 'priority_frames' : undefined;
  }

  /** False: more came than may. */
  resetFrame(): boolean {
    const { resets } = this.#limits;
    if (resets === undefined) return true;
    const second = Math.floor(resets.clock.ms / 1000);
    if (second > this.#resetSecond) {
      const gained = resets.rate * (second - this.#resetSecond);
      this.#resetsLeft = Math.min(resets.burst, this.#resetsLeft + gained);
      this.#resetSecond = second;
    }
    return --this.#resetsLeft >= 0;
  }

  windowUpdateFrame(openStreams: number): InboundFlood | undefined {
    this.#windowUpdates++;
    const perFrame = this.#limits.maxWindowUpdatesPerDataFrame;
    // Five for the connection, two for each stream that is open and for the data that was sent, as in
    // Envoy.
    const most = 5 + 2 * (openStreams + perFrame * this.#dataFramesSent);
    return this.#windowUpdates > most ? 'window_update_frames' : undefined;
  }
}
