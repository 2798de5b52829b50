/** Loggers that write lines: one writer per file, however many logs write to it. */
import type { LineLogConfig } from '../../../../shared/resources/access-loggers/lines.ts';
import { FILESYSTEM } from '../../../../shared/stats/templates/server.ts';
import { compileLogFormat } from '../../../substitution/compile-format.ts';
import type { Logger, LoggerEnv, Loggers } from '../../logger.ts';
import { type LogEvents, LogFile } from './log-file.ts';
import { openTarget, targetKey } from './log-target.ts';
import { PipeTurn } from './pipe-turn.ts';

interface SharedFile {
  readonly file: LogFile;
  users: number;
}

const LOGGER = 'file';
const DROPPED_LINES = 'sluice.access_log.dropped_lines';
const BYTES_PER_KB = 1024;

export class LineLoggers implements Loggers<LineLogConfig> {
  readonly #env: LoggerEnv;
  readonly #files = new Map<string, SharedFile>();
  readonly #closing = new Set<Promise<void>>();
  readonly #events: LogEvents;

  constructor(env: LoggerEnv) {
    this.#env = env;
    this.#events = makeEvents(env);
  }

  open({ sink, format }: LineLogConfig): Logger {
    const file = this.#acquire(sink);
    const key = targetKey(sink);
    const lineOf = compileLogFormat(format);
    return {
      write: (info) => file.write(lineOf(info)),
      release: () => this.#release(key),
    };
  }

  reopen(): void {
    for (const { file } of this.#files.values()) file.reopen();
  }

  async close(): Promise<void> {
    for (const key of this.#files.keys()) this.#closeFile(key);
    await Promise.all(this.#closing);
  }

  #acquire(sink: LineLogConfig['sink']): LogFile {
    const key = targetKey(sink);
    const known = this.#files.get(key);
    if (known !== undefined) {
      known.users += 1;
      return known.file;
    }
    const { clock, heritage, pages } = this.#env;
    const options = {
      clock,
      turnFor: (fd: number) => new PipeTurn(fd, pages),
      flushIntervalMs: heritage.fileFlushIntervalMs,
      flushMinBytes: heritage.fileFlushMinSizeKb * BYTES_PER_KB,
    };
    const file = new LogFile(key, openTarget(sink), options, this.#events);
    this.#files.set(key, { file, users: 1 });
    return file;
  }

  #release(key: string): void {
    const shared = this.#files.get(key);
    if (shared === undefined) return;
    shared.users -= 1;
    if (shared.users === 0) this.#closeFile(key);
  }

  #closeFile(key: string): void {
    const shared = this.#files.get(key);
    if (shared === undefined) return;
    this.#files.delete(key);
    const closed = shared.file.close().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}

function makeEvents({ stats, log }: LoggerEnv): LogEvents {
  const base = stats.defineBlock(FILESYSTEM, 'filesystem.');
  const { index } = FILESYSTEM;
  return {
    buffered(bytes) {
      stats.increment(base + index.write_buffered);
      stats.add(base + index.write_total_buffered, bytes);
    },
    written(bytes) {
      stats.increment(base + index.write_completed);
      stats.subtract(base + index.write_total_buffered, bytes);
    },
    failed(lostBytes) {
      stats.increment(base + index.write_failed);
      stats.subtract(base + index.write_total_buffered, lostBytes);
    },
    flushedByTimer: () => stats.increment(base + index.flushed_by_timer),
    reopenFailed: () => stats.increment(base + index.reopen_failed),
    // Defined only now: statistics of our own appear when they count something.
    dropped: (lines) => stats.add(stats.defineCounter(DROPPED_LINES), lines),
    warn: (message) => log('warning', LOGGER, message),
  };
}
