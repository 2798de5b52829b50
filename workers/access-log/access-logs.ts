/**
 * The access logs of one worker: compiles configured logs, keeps one writer per file, however many
 * logs write to it, and collects entries for log services.
 */
import { FILESYSTEM } from '../../shared/stats/templates/server.ts';
import type {
  AccessLogConfig,
  LineLogConfig,
  LogServiceConfig,
} from '../../shared/resources/access-log.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { Runtime } from '../loop/runtime.ts';
import { compileLogFormat } from '../substitution/compile-format.ts';
import { EntryBuffer } from './entry-buffer.ts';
import { encodeEntry } from './log-entry.ts';
import { LogFile } from './log-file.ts';
import type { LogEvents } from './log-file.ts';
import { compileLogFilter } from './log-filter.ts';
import { openTarget, targetKey } from './log-target.ts';
import { PipeTurn } from './pipe-turn.ts';
import type { SharedPages } from '../loop/shared-count.ts';
import type { AccessLog } from './types.ts';

/** Logs of one listener or connection manager. */
export interface OpenAccessLogs {
  readonly logs: readonly AccessLog[];
  /** Lets go of the files; a file that no log uses any more is flushed and closed. */
  release(): void;
}

export type AccessLogEnv = Pick<
  DataPlaneEnv,
  'clock' | 'exceptions' | 'heritage' | 'log' | 'notify'
> & {
  readonly stats: StatWriter;
  readonly runtime: Runtime;
  readonly pages: SharedPages;
};

interface SharedFile {
  readonly file: LogFile;
  users: number;
}

const LOGGER = 'file';
const DROPPED_LINES = 'sluice.access_log.dropped_lines';
const BYTES_PER_KB = 1024;

export class AccessLogs {
  readonly #env: AccessLogEnv;
  readonly #files = new Map<string, SharedFile>();
  readonly #buffers = new Set<EntryBuffer>();
  readonly #closing = new Set<Promise<void>>();
  readonly #events: LogEvents;

  constructor(env: AccessLogEnv) {
    this.#env = env;
    this.#events = makeEvents(env);
  }

  /** Throws when a file cannot be opened; then none of these logs is open. */
  open(configs: readonly AccessLogConfig[]): OpenAccessLogs {
    const releases: (() => void)[] = [];
    const release = (): void => releases.forEach((letGo) => letGo());
    try {
      const logs = configs.map((config) => {
        if ('stream' in config) return this.#openService(config, releases);
        const file = this.#acquire(config.sink);
        const key = targetKey(config.sink);
        releases.push(() => this.#release(key));
        return this.#compile(config, file);
      });
      return { logs, release: once(release) };
    } catch (error) {
      release();
      throw error;
    }
  }

  reopen(): void {
    for (const { file } of this.#files.values()) file.reopen();
  }

  /** Resolves when everything is written that can be. */
  async close(): Promise<void> {
    for (const buffer of this.#buffers) buffer.flush();
    for (const key of this.#files.keys()) this.#closeFile(key);
    await Promise.all(this.#closing);
  }

  #openService(config: LogServiceConfig, releases: (() => void)[]): AccessLog {
    const { clock, notify } = this.#env;
    const buffer = new EntryBuffer(config, clock, (stream, entries) =>
      notify({ kind: 'log_entries', stream, entries, dropped: 0 }),
    );
    this.#buffers.add(buffer);
    releases.push(() => {
      this.#buffers.delete(buffer);
      buffer.flush();
    });
    return this.#filtered(config, (info) => buffer.add(encodeEntry(info, config)));
  }

  #compile(config: LineLogConfig, file: LogFile): AccessLog {
    const lineOf = compileLogFormat(config.format);
    return this.#filtered(config, (info) => file.write(lineOf(info)));
  }

  #filtered({ filter }: AccessLogConfig, write: (info: StreamInfo) => void): AccessLog {
    const passes = filter === undefined ? undefined : compileLogFilter(filter, this.#env.runtime);
    const { exceptions, log } = this.#env;
    return {
      log(info: StreamInfo) {
        try {
          if (passes === undefined || passes(info)) write(info);
        } catch (error) {
          // A line is never worth a request.
          log('error', LOGGER, `cannot write an access log line: ${String(error)}`);
          exceptions.note(error);
        }
      },
    };
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

function makeEvents({ stats, log }: AccessLogEnv): LogEvents {
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

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}
