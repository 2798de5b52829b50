/** What one side of HTTP/2 connections is configured with, of listeners and of clusters alike. Types only. */

export interface Http2Options {
  readonly headerTableSize: number;
  /** Streams that the peer may have open; towards hosts also what this side opens at most. */
  readonly maxConcurrentStreams: number;
  readonly streamWindowBytes: number;
  readonly connectionWindowBytes: number;
  /** Extended CONNECT (RFC 8441). */
  readonly allowConnect: boolean;
  readonly maxOutboundFrames: number;
  readonly maxOutboundControlFrames: number;
  readonly maxConsecutiveEmptyFrames: number;
  readonly maxPriorityFramesPerStream: number;
  readonly maxWindowUpdatesPerDataFrame: number;
  /** A message that breaks the rules ends its stream, not the connection. */
  readonly endsStreamOnInvalidMessage: boolean;
  /** Further SETTINGS, in their order. */
  readonly customSettings: readonly (readonly [id: number, value: number])[];
  /** Absent: the peer is not asked whether it is there. */
  readonly keepAlive?: Http2PingOptions;
}

export interface Http2PingOptions {
  /** 0: only after the idle time below. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Percent of the interval that is added at random. */
  readonly jitterPercent: number;
  /** A connection that was idle for this long is asked before it carries a request; 0: never. */
  readonly idleIntervalMs: number;
}
