/**
 * Writes the lines of one log of one worker. The first line goes out at once, later ones when the
 * interval is over or enough bytes wait. One write is in flight at a time, always of whole lines;
 * the loop never waits for a disk. What does not fit into the limit is dropped, counted and
 * reported once per interval.
 */
import { close, write } from 'node:fs';

import type { Clock, Timer } from '../../../../shared/process/clock.ts';
import type { PipeTurn } from './pipe-turn.ts';
import { LineBuffer } from './line-buffer.ts';
import type { Chunk } from './line-buffer.ts';
import { reopenTarget } from './log-target.ts';
import type { LogTarget } from './log-target.ts';

/** Bytes that wait per log and worker before lines are dropped. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
/** What the kernel writes to a pipe in one piece (PIPE_BUF of Linux). */
const PIPE_CHUNK_BYTES = 4096;
const FILE_CHUNK_BYTES = 64 * 1024;
/** How long a full pipe or disk is waited for between two attempts, and altogether at the end. */
const RETRY_MS = 20;
/** How long another worker's write to the same pipe is waited for. */
const TURN_MS = 2;
const CLOSE_LIMIT_MS = 2000;

/** What a log tells of itself; `AccessLogs` counts it as statistics. */
export interface LogEvents {
  buffered(bytes: number): void;
  /** A write ended; these bytes wait no longer. */
  written(bytes: number): void;
  /** A write failed; these bytes are lost. */
  failed(lostBytes: number): void;
  flushedByTimer(): void;
  reopenFailed(): void;
  dropped(lines: number): void;
  warn(message: string): void;
}

export interface LogFileOptions {
  readonly flushIntervalMs: number;
  readonly flushMinBytes: number;
  readonly clock: Clock;
  /** For targets that are pipes: who else writes there. */
  turnFor(fd: number): PipeTurn;
}

export class LogFile {
  readonly #name: string;
  readonly #options: LogFileOptions;
  readonly #events: LogEvents;
  readonly #lines: LineBuffer;
  #target: LogTarget;
  #turn: PipeTurn | undefined;
  /** The target was replaced while a line was on its way to the old one. */
  #isTurnStale = false;
  #waitingBytes = 0;
  #isWriting = false;
  /** Bytes added since the last flush began. */
  #freshBytes = 0;
  #droppedLines = 0;
  #interval: Timer | undefined = undefined;
  #retry: Timer | undefined = undefined;
  #isReopening = false;
  #reopensAgain = false;
  #onDrained: (() => void) | undefined = undefined;
  /** The descriptor that a reopened file replaced, closed when its last write is done. */
  #replacedFd: number | undefined = undefined;

  constructor(name: string, target: LogTarget, options: LogFileOptions, events: LogEvents) {
    this.#name = name;
    this.#target = target;
    this.#options = options;
    this.#turn = this.#newTurn();
    this.#events = events;
    this.#lines = new LineBuffer(target.isPipe ? PIPE_CHUNK_BYTES : FILE_CHUNK_BYTES);
  }

  /** Takes a line with its own line end, one character per byte. */
  write(line: string): void {
    if (this.#waitingBytes + line.length > WAITING_BYTES_MAX) {
      this.#droppedLines += 1;
      return;
    }
    this.#lines.add(line);
    this.#waitingBytes += line.length;
    this.#events.buffered(line.length);
    this.#freshBytes += line.length;
    if (this.#interval === undefined) {
      this.#startInterval();
      this.#flush();
    } else if (this.#target.isTerminal || this.#freshBytes >= this.#options.flushMinBytes) {
      this.#flush();
    }
  }

  /** Opens the file by its path again; lines go to the old one until that is done. */
  reopen(): void {
    const { path } = this.#target;
    if (path === undefined) return;
    if (this.#isReopening) {
      this.#reopensAgain = true;
      return;
    }
    this.#isReopening = true;
    reopenTarget(path, (error, target) => {
      this.#isReopening = false;
      if (target !== undefined) this.#replaceTarget(target);
      else this.#reopenFailed(error);
      if (!this.#reopensAgain) return;
      this.#reopensAgain = false;
      this.reopen();
    });
  }

  /** Writes what waits and closes the file; gives up on a reader or disk that does not move. */
  async close(): Promise<void> {
    this.#interval?.cancel();
    if (this.#waitingBytes > 0) {
      await new Promise<void>((resolve) => {
        const limit = this.#options.clock.after(CLOSE_LIMIT_MS, resolve);
        this.#onDrained = () => {
          limit.cancel();
          resolve();
        };
        this.#flush();
      });
    }
    this.#retry?.cancel();
    this.#turn?.end();
    this.#reportDropped();
    if (this.#target.path !== undefined) this.#closeDescriptor(this.#target.fd);
  }

  #startInterval(): void {
    const { clock, flushIntervalMs } = this.#options;
    this.#interval = clock.every(
      flushIntervalMs,
      () => {
        this.#events.flushedByTimer();
        this.#reportDropped();
        this.#flush();
      },
      { unref: true },
    );
  }

  /** Writes what is there now, and what comes while an earlier write is on its way. */
  #flush(): void {
    this.#freshBytes = 0;
    this.#lines.seal();
    this.#writeNext();
  }

  #writeNext(): void {
    if (this.#isWriting || this.#retry !== undefined) return;
    const chunk = this.#lines.take();
    if (chunk !== undefined) {
      if (this.#turn?.begin(chunk.length > PIPE_CHUNK_BYTES) === false) {
        this.#lines.putBack(chunk);
        this.#retryIn(TURN_MS);
        return;
      }
      this.#isWriting = true;
      this.#writeChunk(chunk);
    } else if (this.#waitingBytes === 0) {
      this.#onDrained?.();
      this.#onDrained = undefined;
    }
  }

  #writeChunk(chunk: Chunk): void {
    const { fd } = this.#target;
    const rest = chunk.length - chunk.written;
    write(fd, chunk.bytes, chunk.written, rest, null, (error, count) => {
      this.#isWriting = false;
      this.#closeReplaced();
      if (error !== null) return this.#writeFailed(chunk, error);
      chunk.written += count;
      this.#waitingBytes -= count;
      this.#events.written(count);
      if (chunk.written < chunk.length) {
        this.#isWriting = true;
        return this.#writeChunk(chunk);
      }
      this.#endTurn();
      this.#lines.recycle(chunk);
      this.#writeNext();
    });
  }

  #retryIn(delayMs: number): void {
    this.#retry = this.#options.clock.after(
      delayMs,
      () => {
        this.#retry = undefined;
        this.#writeNext();
      },
      { unref: true },
    );
  }

  #writeFailed(chunk: Chunk, error: NodeJS.ErrnoException): void {
    const { code = '' } = error;
    if (PASSING_ERRORS.has(code)) {
      this.#lines.putBack(chunk);
      // The rest of a line that is out in part must follow it.
      if (chunk.written === 0) this.#endTurn();
      const wait = code === 'EAGAIN' || code === 'EINTR' ? RETRY_MS : this.#options.flushIntervalMs;
      if (code !== 'EAGAIN' && code !== 'EINTR') this.#events.failed(0);
      this.#retryIn(wait);
      return;
    }
    this.#endTurn();
    const lost = chunk.length - chunk.written;
    this.#waitingBytes -= lost;
    this.#events.failed(lost);
    this.#events.warn(`cannot write access log ${this.#name}: ${error.message}`);
    this.#writeNext();
  }

  #replaceTarget(target: LogTarget): void {
    const old = this.#target.fd;
    this.#target = target;
    if (this.#isWriting) {
      this.#replacedFd = old;
      this.#isTurnStale = true;
      return;
    }
    this.#closeDescriptor(old);
    this.#endTurn();
    this.#turn = this.#newTurn();
  }

  #newTurn(): PipeTurn | undefined {
    const { isPipe, fd } = this.#target;
    return isPipe ? this.#options.turnFor(fd) : undefined;
  }

  #endTurn(): void {
    this.#turn?.end();
    if (!this.#isTurnStale) return;
    this.#isTurnStale = false;
    this.#turn = this.#newTurn();
  }

  #closeReplaced(): void {
    if (this.#replacedFd === undefined) return;
    this.#closeDescriptor(this.#replacedFd);
    this.#replacedFd = undefined;
  }

  #closeDescriptor(fd: number): void {
    close(fd, (error) => {
      if (error) this.#events.warn(`cannot close access log ${this.#name}: ${error.message}`);
    });
  }

  #reopenFailed(error: Error | undefined): void {
    this.#events.reopenFailed();
    this.#events.warn(`cannot reopen access log ${this.#name}: ${error?.message ?? 'unknown'}`);
  }

  #reportDropped(): void {
    if (this.#droppedLines === 0) return;
    const lines = this.#droppedLines;
    this.#droppedLines = 0;
    this.#events.dropped(lines);
    const limitMiB = WAITING_BYTES_MAX / 1024 / 1024;
    this.#events.warn(
      `dropped ${lines} lines of access log ${this.#name}: ${limitMiB} MiB wait to be written`,
    );
  }
}

/** Errors after which the same write may succeed later. */
const PASSING_ERRORS: ReadonlySet<string> = new Set(['EAGAIN', 'EINTR', 'ENOSPC', 'EDQUOT', 'EIO']);
