/** What the peer's SETTINGS say (RFC 9113 section 6.5.2), with the defaults until they come. */
import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW,
  ErrorCode,
  LARGEST_MAX_FRAME_BYTES,
  LARGEST_WINDOW,
  Setting,
} from './frames.ts';

export interface RefusedSettings {
  readonly code: number;
  /** Envoy ends the connection without a word. */
  readonly isQuiet: boolean;
  readonly details: string;
}

const ENTRY_BYTES = 6;

export class PeerSettings {
  headerTableSize = 4096;
  maxConcurrentStreams: number = Number.POSITIVE_INFINITY;
  initialWindowSize: number = DEFAULT_WINDOW;
  maxFrameSize: number = DEFAULT_MAX_FRAME_BYTES;
  allowsExtendedConnect = false;
  /** By how much the last frame changed the initial window. */
  windowChange = 0;

  /** Takes the payload of one frame, in its order. */
  read(input: Buffer, start: number, end: number): RefusedSettings | undefined {
    const before = this.initialWindowSize;
    for (let at = start; at + ENTRY_BYTES <= end; at += ENTRY_BYTES) {
      const refused = this.#set(input.readUInt16BE(at), input.readUInt32BE(at + 2));
      if (refused !== undefined) return refused;
    }
    this.windowChange = this.initialWindowSize - before;
    return undefined;
  }

  #set(id: number, value: number): RefusedSettings | undefined {
    switch (id) {
      case Setting.headerTableSize:
        this.headerTableSize = value;
        return undefined;
      case Setting.enablePush:
        return value > 1 ? invalid('SETTINGS_ENABLE_PUSH') : undefined;
      case Setting.maxConcurrentStreams:
        this.maxConcurrentStreams = value;
        return undefined;
      case Setting.initialWindowSize:
        if (value > LARGEST_WINDOW) {
          return {
            code: ErrorCode.flowControlError,
            isQuiet: false,
            details: 'SETTINGS: too large window',
          };
        }
        this.initialWindowSize = value;
        return undefined;
      case Setting.maxFrameSize:
        if (value < DEFAULT_MAX_FRAME_BYTES || value > LARGEST_MAX_FRAME_BYTES) {
          return invalid('SETTINGS_MAX_FRAME_SIZE');
        }
        this.maxFrameSize = value;
        return undefined;
      case Setting.enableConnectProtocol:
        if (value > 1) return invalid('SETTINGS_ENABLE_CONNECT_PROTOCOL');
        this.allowsExtendedConnect = value === 1;
        return undefined;
      default:
        return undefined;
    }
  }
}

function invalid(setting: string): RefusedSettings {
  return { code: ErrorCode.protocolError, isQuiet: true, details: `SETTINGS: invalid ${setting}` };
}
