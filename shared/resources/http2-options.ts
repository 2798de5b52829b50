/** What one side of HTTP/2 connections is configured with, of listeners and of clusters alike. */

export interface Http2Options {
  readonly headerTableSize: number;
  /** Streams that the peer may have open; towards hosts also what this side opens at most. */
  readonly maxConcurrentStreams: number;
  readonly streamWindowBytes: number;
  readonly connectionWindowBytes: number;
  /**
   * The limit of one block of METADATA, Envoy's own frame; 0: such frames are ignored, and none are
   * sent.
   */
  readonly maxMetadataBytes: number;
  /** Extended CONNECT (RFC 8441). */
  readonly allowConnect: boolean;
  readonly maxOutboundFrames: number;
  readonly maxOutboundControlFrames: number;
  readonly maxConsecutiveEmptyFrames: number;
  readonly maxPriorityFramesPerStream: number;
  readonly maxWindowUpdatesPerDataFrame: number;
  /** RST_STREAM frames of a client: how many at once, and how many more in each second. */
  readonly resetBurst: number;
  readonly resetRate: number;
  /** Bytes of one name or value as it comes on the wire. */
  readonly maxHeaderTextBytes: number;
  /** Texts of header blocks are written in the Huffman code where that is shorter. */
  readonly usesHuffman: boolean;
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

/** Envoy 1.40's defaults; older documents say 2^31-1 streams and windows of 256 MiB. */
export const DEFAULT_HTTP2_OPTIONS: Http2Options = {
  headerTableSize: 4096,
  maxConcurrentStreams: 1024,
  streamWindowBytes: 16 * 1024 * 1024,
  connectionWindowBytes: 24 * 1024 * 1024,
  maxMetadataBytes: 0,
  allowConnect: false,
  maxOutboundFrames: 10_000,
  maxOutboundControlFrames: 1_000,
  maxConsecutiveEmptyFrames: 1,
  maxPriorityFramesPerStream: 100,
  maxWindowUpdatesPerDataFrame: 10,
  resetBurst: 1000,
  resetRate: 33,
  maxHeaderTextBytes: 64 * 1024,
  // Envoy writes it; plain texts say the same and cost less time.
  usesHuffman: false,
  endsStreamOnInvalidMessage: false,
  customSettings: [],
};
