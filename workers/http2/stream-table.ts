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
  /**
   * Streams that ended lately, the oldest of which is overwritten next; negative those that this side
   * reset. Absent until one has ended. No Map: `loop/members.ts` says why.
   */
  #closed: Int32Array | undefined = undefined;
  #closedNext = 0;
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
    if (!this.wasOpen(id)) return 'idle';
    if (this.open.has(id)) return 'open';
    const closed = this.#closed;
    if (closed?.includes(-id) === true) return 'left';
    if (closed?.includes(id) === true) return this.#isServer ? 'closed' : 'left';
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
    const closed = (this.#closed ??= new Int32Array(CLOSED_REMEMBERED));
    const oldest = Math.abs(closed[this.#closedNext] ?? 0);
    if (oldest > this.#forgottenUpTo) this.#forgottenUpTo = oldest;
    closed[this.#closedNext] = wasResetHere ? -id : id;
    this.#closedNext = (this.#closedNext + 1) % CLOSED_REMEMBERED;
  }
}
