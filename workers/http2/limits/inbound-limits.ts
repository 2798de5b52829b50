/**
 * What a peer may send that costs it little and this side something: empty frames, PRIORITY and
 * WINDOW_UPDATE frames. Source: Envoy's `Http2ProtocolOptions`, with its defaults and names.
 */
export interface InboundLimits {
  readonly maxConsecutiveEmptyFrames: number;
  readonly maxPriorityFramesPerStream: number;
  readonly maxWindowUpdatesPerDataFrame: number;
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

  constructor(limits: InboundLimits) {
    this.#limits = limits;
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

  windowUpdateFrame(openStreams: number): InboundFlood | undefined {
    this.#windowUpdates++;
    const perFrame = this.#limits.maxWindowUpdatesPerDataFrame;
    // Five for the connection, two for each stream that is open and for the data that was sent, as in
    // Envoy.
    const most = 5 + 2 * (openStreams + perFrame * this.#dataFramesSent);
    return this.#windowUpdates > most ? 'window_update_frames' : undefined;
  }
}
