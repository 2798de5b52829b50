/** What the peer's SETTINGS say (RFC 9113 section 6.5.2), with the defaults until they come. */
import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_TABLE_BYTES,
  DEFAULT_WINDOW,
  LARGEST_MAX_FRAME_BYTES,
  LARGEST_WINDOW,
  Setting,
} from './frames.ts';

const ENTRY_BYTES = 6;

export class PeerSettings {
  headerTableSize: number = DEFAULT_TABLE_BYTES;
  maxConcurrentStreams: number = Number.POSITIVE_INFINITY;
  initialWindowSize: number = DEFAULT_WINDOW;
  maxFrameSize: number = DEFAULT_MAX_FRAME_BYTES;
  allowsExtendedConnect = false;
  /** By how much the last frame changed the initial window. */
  windowChange = 0;
  readonly #ofClient: boolean;
  /** Whether the order of streams is of the first kind (RFC 7540): said once. */
  #hasNoPriorities: number | undefined = undefined;

  /** `ofClient`: the peer is one. */
  constructor(ofClient: boolean) {
    this.#ofClient = ofClient;
  }

  /** Takes the payload of one frame, in its order; false where a value is none of its setting. */
  read(input: Buffer, start: number, end: number): boolean {
    const before = this.initialWindowSize;
    for (let at = start; at + ENTRY_BYTES <= end; at += ENTRY_BYTES) {
      if (!this.#set(input.readUInt16BE(at), input.readUInt32BE(at + 2))) return false;
    }
    this.windowChange = this.initialWindowSize - before;
    return true;
  }

  #set(id: number, value: number): boolean {
    switch (id) {
      case Setting.headerTableSize:
        this.headerTableSize = value;
        return true;
      case Setting.enablePush:
        return value <= (this.#ofClient ? 1 : 0);
      case Setting.maxConcurrentStreams:
        this.maxConcurrentStreams = value;
        return true;
      case Setting.initialWindowSize:
        this.initialWindowSize = value;
        return value <= LARGEST_WINDOW;
      case Setting.maxFrameSize:
        this.maxFrameSize = value;
        return value >= DEFAULT_MAX_FRAME_BYTES && value <= LARGEST_MAX_FRAME_BYTES;
      case Setting.enableConnectProtocol:
        return this.#allowConnect(value);
      case Setting.noPriorities:
        this.#hasNoPriorities ??= value;
        return value <= 1 && this.#hasNoPriorities === value;
      default:
        return true;
    }
  }

  /** A server takes it back no more (RFC 8441 section 3). */
  #allowConnect(value: number): boolean {
    if (value === 0 && this.allowsExtendedConnect && !this.#ofClient) return false;
    this.allowsExtendedConnect = value === 1;
    return value <= 1;
  }
}
