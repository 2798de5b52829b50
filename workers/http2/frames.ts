/**
 * The wire format of HTTP/2 (RFC 9113 section 4): types, flags, settings, error codes, and the
 * bytes of the frames that this side writes. Frames are made as latin-1 text, one character a byte,
 * because the transport gathers short pieces as text.
 *
 *   length (24) | type (8) | flags (8) | reserved (1) stream (31) | payload
 */

export const FRAME_HEADER_BYTES = 9;
/** The smallest and the default SETTINGS_MAX_FRAME_SIZE. */
export const DEFAULT_MAX_FRAME_BYTES = 16_384;
export const LARGEST_MAX_FRAME_BYTES = 2 ** 24 - 1;
export const DEFAULT_WINDOW = 65_535;
/** The size of a header table, until the other side has confirmed another one. */
export const DEFAULT_TABLE_BYTES = 4096;
export const LARGEST_WINDOW = 2 ** 31 - 1;
export const LARGEST_STREAM_ID = 2 ** 31 - 1;

export const CLIENT_PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
  /** Envoy's own. */
  metadata: 0x4d,
} as const;

export const Flag = {
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  endMetadata: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

export const Setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  enableConnectProtocol: 8,
  /** RFC 9218 section 2.1. */
  noPriorities: 9,
} as const;

/** RFC 9113 section 7. */
export const ErrorCode = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  connectError: 10,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
  http11Required: 13,
} as const;
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

export function frameHeader(length: number, type: number, flags: number, stream: number): string {
  return (
    String.fromCharCode(length >>> 16, (length >>> 8) & 0xff, length & 0xff, type, flags) +
    number32(stream)
  );
}

/** Pairs of setting and value, in their order. */
export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): string {
  let payload = '';
  for (const [id, value] of settings) payload += number16(id) + number32(value);
  return frameHeader(payload.length, FrameType.settings, 0, 0) + payload;
}

/** What one side of a connection says before anything else. */
export function firstFrames(options: {
  readonly isServer: boolean;
  readonly settings: Parameters<typeof settingsFrame>[0];
  readonly connectionWindow: number;
}): string {
  const more = options.connectionWindow - DEFAULT_WINDOW;
  const window = more > 0 ? windowUpdateFrame(0, more) : '';
  return (options.isServer ? '' : CLIENT_PREFACE) + settingsFrame(options.settings) + window;
}

export const SETTINGS_ACK = frameHeader(0, FrameType.settings, Flag.ack, 0);

/** `payload` has eight bytes. */
export function pingFrame(payload: string, isAck: boolean): string {
  return frameHeader(8, FrameType.ping, isAck ? Flag.ack : 0, 0) + payload;
}

export function goawayFrame(lastStream: number, code: number, debug = ''): string {
  const payload = number32(lastStream) + number32(code) + debug;
  return frameHeader(payload.length, FrameType.goaway, 0, 0) + payload;
}

export function resetFrame(stream: number, code: number): string {
  return frameHeader(4, FrameType.rstStream, 0, stream) + number32(code);
}

/** `stream` 0 is the connection. */
export function windowUpdateFrame(stream: number, increment: number): string {
  return frameHeader(4, FrameType.windowUpdate, 0, stream) + number32(increment);
}

/** A header block of any length as HEADERS and CONTINUATION frames. */
export function headersFrames(
  stream: number,
  block: string,
  endStream: boolean,
  maxFrameBytes: number,
): string {
  const flags = endStream ? Flag.endStream : 0;
  if (block.length <= maxFrameBytes) {
    return frameHeader(block.length, FrameType.headers, flags | Flag.endHeaders, stream) + block;
  }
  let frames =
    frameHeader(maxFrameBytes, FrameType.headers, flags, stream) + block.slice(0, maxFrameBytes);
  for (let at = maxFrameBytes; at < block.length; at += maxFrameBytes) {
    const piece = block.slice(at, at + maxFrameBytes);
    const isLast = at + maxFrameBytes >= block.length;
    const pieceFlags = isLast ? Flag.endHeaders : 0;
    frames += frameHeader(piece.length, FrameType.continuation, pieceFlags, stream) + piece;
  }
  return frames;
}

/** A number without the reserved bit. */
export function readNumber31(input: Buffer, at: number): number {
  return input.readUInt32BE(at) & 0x7fffffff;
}

function number16(value: number): string {
  return String.fromCharCode((value >>> 8) & 0xff, value & 0xff);
}

function number32(value: number): string {
  return String.fromCharCode(
    (value >>> 24) & 0xff,
    (value >>> 16) & 0xff,
    (value >>> 8) & 0xff,
    value & 0xff,
  );
}
