/**
 * One body that passes while its bucket has bytes and nobody waits for them; otherwise it waits for
 * its share. What waits is kept up to a limit, beyond which the sender is told to wait.
 */
import { CollectedBytes } from '../../../../shared/bytes/collected-bytes.ts';
import type { StatWriter } from '../../../../shared/stats/stat-writer.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { TokenBucket } from '../../common/token-bucket.ts';
import type { ShareMember, ShareQueue } from './share-queue.ts';
import type { ShareStats } from './share-stats.ts';

export interface SharedBodyOwner {
  onBytes(data: Buffer, endStream: boolean): void;
  onTrailers(trailers: HeaderMap): void;
  /** The sender is to wait, or goes on. */
  onBacklog(isFull: boolean): void;
  /** Trailers for a body that has none; undefined: it ends without. */
  lastTrailers(): HeaderMap | undefined;
  onException(): void;
}

/** The bucket of a limit in this worker. */
export interface Share {
  /** Undefined: nothing is limited. */
  bucket(): TokenBucket | undefined;
  /** Whether anybody waits for it, in any worker. */
  isWaitedFor(): boolean;
  /** Those who wait in this worker, made for the first. */
  queue(): ShareQueue;
}

export interface SharedBodyParts {
  readonly share: Share;
  readonly tenant: string;
  readonly weight: number;
  /** Where the body counts, asked for at its first bytes. */
  readonly statsOf: () => ShareStats;
  readonly stats: StatWriter;
  readonly loop: WorkerLoop;
  readonly bufferLimitBytes: number;
}

const NOTHING = Buffer.alloc(0);

export class SharedBody implements ShareMember {
  readonly #parts: SharedBodyParts;
  readonly #owner: SharedBodyOwner;
  readonly #waiting = new CollectedBytes();
  #known: ShareStats | undefined = undefined;
  #queue: ShareQueue | undefined = undefined;
  #trailers: HeaderMap | undefined = undefined;
  #endsWithBody = false;
  #isPaused = false;
  #beganMs = -1;
  #waitsSinceMs = 0;
  #waitedMs = 0;

  constructor(parts: SharedBodyParts, owner: SharedBodyOwner) {
    this.#parts = parts;
    this.#owner = owner;
  }

  get tenant(): string {
    return this.#parts.tenant;
  }

  get weight(): number {
    return this.#parts.weight;
  }

  get waitingBytes(): number {
    return this.#waiting.length;
  }

  /** Whole milliseconds since the first byte. */
  get tookMs(): number {
    return this.#beganMs < 0 ? 0 : Math.floor(this.#parts.loop.clock.ms - this.#beganMs);
  }

  /** The part of them while bytes waited here. */
  get waitedMs(): number {
    return Math.floor(this.#waitedMs);
  }

  write(data: Buffer, endStream: boolean): void {
    const { stats, loop } = this.#parts;
    if (this.#beganMs < 0) this.#beganMs = loop.clock.ms;
    this.#endsWithBody ||= endStream;
    if (this.#queue === undefined && this.#passes(data.length)) {
      if (data.length > 0) stats.add(this.#counts.notLimited, data.length);
      this.#goOn(data);
      return;
    }
    if (data.length === 0) return;
    stats.add(this.#counts.limited, data.length);
    this.#keep(data);
  }

  /** They go on behind what waits. */
  end(trailers: HeaderMap): void {
    this.#trailers = trailers;
    if (this.#queue === undefined) this.#goOn(NOTHING);
  }

  onShare(bytes: number): void {
    const data = this.#cut(bytes);
    if (this.#waiting.length === 0) this.#leave();
    this.#goOn(data);
    this.#tellBacklog();
  }

  onException(): void {
    this.#owner.onException();
  }

  destroy(): void {
    this.#drop(this.#waiting.length);
    this.#waiting.clear();
    this.#leave();
  }

  /** Whole pieces pass or wait, behind everybody who waits already. */
  #passes(length: number): boolean {
    const { share, loop } = this.#parts;
    const bucket = share.bucket();
    if (length === 0 || bucket === undefined) return true;
    if (share.isWaitedFor()) return false;
    const now = loop.clock.ms;
    return bucket.remaining(now) >= length && bucket.takeUpTo(length, now) > 0;
  }

  #keep(data: Buffer): void {
    const { share, stats, loop } = this.#parts;
    this.#waiting.addCopy(data);
    loop.held.add(data.length);
    stats.add(this.#counts.bytesPending, data.length);
    if (this.#queue === undefined) {
      stats.add(this.#counts.streamsLimited, 1);
      this.#waitsSinceMs = loop.clock.ms;
      this.#queue = share.queue();
      this.#queue.add(this);
    }
    this.#tellBacklog();
  }

  #goOn(data: Buffer): void {
    const isLast = this.#queue === undefined;
    if (isLast && this.#endsWithBody) this.#trailers = this.#owner.lastTrailers();
    const trailers = isLast ? this.#trailers : undefined;
    const endStream = isLast && this.#endsWithBody && trailers === undefined;
    if (data.length > 0 || endStream) this.#owner.onBytes(data, endStream);
    if (trailers === undefined) return;
    this.#trailers = undefined;
    this.#owner.onTrailers(trailers);
  }

  #leave(): void {
    const queue = this.#queue;
    if (queue === undefined) return;
    const { stats, loop } = this.#parts;
    this.#queue = undefined;
    stats.subtract(this.#counts.streamsLimited, 1);
    this.#waitedMs += loop.clock.ms - this.#waitsSinceMs;
    queue.remove(this);
  }

  #cut(length: number): Buffer {
    const whole = this.#waiting.joined();
    this.#waiting.clear();
    this.#waiting.add(whole.subarray(length));
    this.#drop(length);
    return whole.subarray(0, length);
  }

  #drop(length: number): void {
    if (length === 0) return;
    const { stats, loop } = this.#parts;
    loop.held.add(-length);
    stats.subtract(this.#counts.bytesPending, length);
  }

  get #counts(): ShareStats {
    this.#known ??= this.#parts.statsOf();
    return this.#known;
  }

  #tellBacklog(): void {
    const isFull = this.#waiting.length >= this.#parts.bufferLimitBytes;
    if (isFull === this.#isPaused) return;
    this.#isPaused = isFull;
    this.#owner.onBacklog(isFull);
  }
}
