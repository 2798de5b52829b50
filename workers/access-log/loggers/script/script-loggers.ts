/** Access loggers that are modules of the operator's own. */
import type { AccessLoggerHandlers } from '../../../../shared/scripts/access-logger.ts';
import type { ScriptLogConfig } from '../../../../shared/resources/access-loggers/script.ts';
import { SCRIPT_LOG } from '../../../../shared/stats/templates/telemetry.ts';
import { RunningModule, type Version } from '../../../scripts/running-module.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import type { Logger, LoggerEnv, Loggers } from '../../logger.ts';
import { StreamEntry } from './stream-entry.ts';

/** Entries that wait until the module is loaded. */
const WAITING_MAX = 1_000;
/** Promises of one logger that are not settled; what comes then is dropped. */
const OPEN_MAX = 10_000;
/** For the last promises, when the worker ends. */
const LAST_PROMISES_MS = 1_000;
const { index } = SCRIPT_LOG;

type LoggerVersion = Version<AccessLoggerHandlers>;

export class ScriptLoggers implements Loggers<ScriptLogConfig> {
  readonly #env: LoggerEnv;
  readonly #open = new Set<ScriptLogger>();

  constructor(env: LoggerEnv) {
    this.#env = env;
  }

  open(config: ScriptLogConfig): Logger {
    const logger = new ScriptLogger(config, this.#env, () => this.#open.delete(logger));
    this.#open.add(logger);
    return logger;
  }

  async close(): Promise<void> {
    const all = [...this.#open];
    const limit = new Promise<void>((resolve) => {
      this.#env.clock.after(LAST_PROMISES_MS, resolve, { unref: true });
    });
    await Promise.race([limit, Promise.all(all.map(async (logger) => logger.close()))]);
  }
}

class ScriptLogger implements Logger {
  readonly #env: LoggerEnv;
  readonly #base: number;
  readonly #module: RunningModule<AccessLoggerHandlers>;
  readonly #released: () => void;
  readonly #promises = new Set<Promise<void>>();
  #waiting: StreamInfo[] | undefined = [];

  constructor(config: ScriptLogConfig, env: LoggerEnv, released: () => void) {
    const { statPrefix } = config;
    const prefix = `access_logs.script.${statPrefix}.`;
    this.#env = env;
    this.#released = released;
    this.#base = env.stats.defineBlock(SCRIPT_LOG, prefix);
    this.#module = new RunningModule<AccessLoggerHandlers>({
      kind: 'access_logger',
      name: statPrefix,
      config,
      prefix,
      scripts: env.scripts,
      stats: env.stats,
      counted: {
        errors: this.#base + index.errors,
        load_failures: this.#base + index.load_failures,
        disabled: this.#base + index.disabled,
      },
      check: (handlers) => {
        if (typeof handlers.onLog !== 'function') throw new TypeError('create() gave no onLog');
      },
      ended: (version) => this.#end(version),
    });
    void this.#module.ready.then(() => this.#settled());
  }

  write(info: StreamInfo): void {
    if (this.#waiting === undefined) return this.#log(info);
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(info);
    else this.#count('dropped');
  }

  release(): void {
    this.#released();
    void this.close().then(() => {
      this.#module.release();
      this.#env.stats.releaseBlock(this.#base);
    });
  }

  async close(): Promise<void> {
    const version = this.#module.stop();
    if (version !== undefined) this.#end(version);
    await Promise.all(this.#promises);
  }

  #end({ handlers, moduleId }: LoggerVersion): void {
    this.#call(moduleId, () => handlers.onClose?.());
  }

  #settled(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const info of waiting) this.#log(info);
  }

  #log(info: StreamInfo): void {
    const { version } = this.#module;
    if (version === undefined || this.#promises.size >= OPEN_MAX) return this.#count('dropped');
    this.#count('entries');
    const entry = new StreamEntry(info, this.#env.loop.clock.ms);
    this.#call(version.moduleId, () => version.handlers.onLog(entry));
  }

  /** Nobody waits for it. */
  #call(moduleId: number, act: () => void | Promise<void>): void {
    const result: unknown = this.#module.run(moduleId, act);
    if (result instanceof Promise) this.#keep(result, moduleId);
  }

  #keep(promise: Promise<unknown>, moduleId: number): void {
    const { marks } = this.#env.scripts;
    marks.awaits(moduleId);
    const kept = promise
      .then(
        () => undefined,
        (error: unknown) => this.#module.noteFault(error),
      )
      .finally(() => {
        marks.awaitsNoMore();
        this.#promises.delete(kept);
      });
    this.#promises.add(kept);
  }

  #count(stat: 'entries' | 'dropped'): void {
    this.#env.stats.increment(this.#base + index[stat]);
  }
}
