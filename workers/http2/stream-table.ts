/**
 * The streams of one HTTP/2 connection by number (RFC 9113 section 5.1): which are open, which were
 * open, which the peer may still open.
 */
import { LARGEST_STREAM_ID } from './frames.ts';
import { OpenStreams } from './open-streams.ts';

/** Streams that ended lately, of which late frames may come. */
const CLOSED_REMEMBERED = 128;

/**
 * What is known of a number. `idle`: it was never opened; `left`: its late frames are ignored, because
 * this side reset it, or a host sent them, as in Envoy; `forgotten`: it ended long ago.
 */
export type StreamState = 'open' | 'idle' | 'left' | 'closed' | 'forgotten' | 'skipped';

export class StreamTable {
  readonly open = new OpenStreams();
  readonly #isServer: boolean;
  /** Streams that ended lately, by id: whether this side reset them. Absent until one has. */
  #closed: Map<number, boolean> | undefined = undefined;
  /** Nothing is known any more of streams up to here. */
  #forgottenUpTo = 0;
  /** The highest stream that the peer has opened. */
  lastPeerStream = 0;
  /** The next one that this side opens. */
  #nextOwn: number;
  /** The peer has said GOAWAY: with the last of its streams it is done, as in Envoy. */
  isPeerLeaving = false;
  /** Streams above are not taken any more; a drain's last GOAWAY said so. */
  #lastTaken = LARGEST_STREAM_ID;

  constructor(isServer: boolean) {
    this.#isServer = isServer;
    this.#nextOwn = isServer ? 2 : 1;
  }

  /** The number of this side's next stream; undefined when there are none left. */
  nextOwn(): number | undefined {
    if (this.#nextOwn > LARGEST_STREAM_ID) return undefined;
    const id = this.#nextOwn;
    this.#nextOwn += 2;
    return id;
  }

  stateOf(id: number): StreamState {
    if (this.open.has(id)) return 'open';
    const wasReset = this.#closed?.get(id);
    if (wasReset !== undefined) return wasReset || !this.#isServer ? 'left' : 'closed';
    if (!this.wasOpen(id)) return 'idle';
    return id <= this.#forgottenUpTo ? 'forgotten' : 'skipped';
  }

  /** Whether the peer, and not this side, opens streams of this number with a request. */
  isPeers(id: number): boolean {
    return this.#isServer && (id & 1) === 1;
  }

  wasOpen(id: number): boolean {
    if (id === 0) return false;
    const isPeers = ((id & 1) === 1) === this.#isServer;
    return isPeers ? id <= this.lastPeerStream : id < this.#nextOwn;
  }

  /** The peer's streams end with the last one that it has opened. */
  takeNoMore(): void {
    this.#lastTaken = Math.min(this.#lastTaken, this.lastPeerStream);
  }

  isTaken(id: number): boolean {
    return id <= this.#lastTaken;
  }

  remember(id: number, wasResetHere: boolean): void {
    const closed = (this.#closed ??= new Map<number, boolean>());
    closed.set(id, wasResetHere);
    if (closed.size <= CLOSED_REMEMBERED) return;
    for (const oldest of closed.keys()) {
      closed.delete(oldest);
      if (oldest > this.#forgottenUpTo) this.#forgottenUpTo = oldest;
      return;
    }
  }
}
