/** Access loggers that are modules of the operator's own. */
import type { ScriptMarks } from '../../../../shared/limits/script-page.ts';
import type { AccessLoggerHandlers } from '../../../../shared/scripts/access-logger.ts';
import type { ModuleContext } from '../../../../shared/scripts/context.ts';
import { type DefinedModule, definitionOf } from '../../../../shared/scripts/module-definition.ts';
import type { ScriptModule } from '../../../../shared/scripts/script-module.ts';
import type { ScriptLogConfig } from '../../../../shared/resources/access-loggers/script.ts';
import { SCRIPT_LOG } from '../../../../shared/stats/templates/telemetry.ts';
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

/** A logger that waits for its module, or runs it. */
interface LoggerUser {
  readonly name: string;
  readonly loadTimeoutMs: number;
  readonly loopTimeoutMs: number;
  prepare(defined: DefinedModule, moduleId: number): Promise<() => void>;
  disable(): void;
  failed(error: unknown): void;
}

/** The modules of this worker, as far as loggers know them. */
export interface LoggerModules {
  readonly marks: ScriptMarks;
  join(
    module: ScriptModule,
    user: LoggerUser,
  ): { readonly ready: Promise<void>; readonly leave: () => void };
  /** What `create` is given, and where stacks go; both until `release`. */
  surroundings(name: string, prefix: string): LoggerSurroundings;
}

interface LoggerSurroundings {
  readonly context: ModuleContext;
  writeStack(error: unknown): void;
  release(): void;
}

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

class ScriptLogger implements Logger, LoggerUser {
  readonly name: string;
  readonly loadTimeoutMs: number;
  readonly loopTimeoutMs: number;
  readonly #env: LoggerEnv;
  readonly #settings: string;
  readonly #base: number;
  readonly #around: LoggerSurroundings;
  readonly #leave: () => void;
  readonly #released: () => void;
  readonly #promises = new Set<Promise<void>>();
  #waiting: StreamInfo[] | undefined = [];
  #running: { readonly handlers: AccessLoggerHandlers; readonly moduleId: number } | undefined;

  constructor(config: ScriptLogConfig, env: LoggerEnv, released: () => void) {
    const { statPrefix, module } = config;
    const prefix = `access_logs.script.${statPrefix}.`;
    this.name = statPrefix;
    this.loadTimeoutMs = config.loadTimeoutMs;
    this.loopTimeoutMs = config.loopTimeoutMs;
    this.#env = env;
    this.#settings = config.settings;
    this.#released = released;
    this.#base = env.stats.defineBlock(SCRIPT_LOG, prefix);
    this.#around = env.scripts.surroundings(statPrefix, prefix);
    const joined = env.scripts.join(module, this);
    this.#leave = joined.leave;
    void joined.ready.then(() => this.#settled());
  }

  write(info: StreamInfo): void {
    if (this.#waiting === undefined) return this.#log(info);
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(info);
    else this.#count('dropped');
  }

  release(): void {
    this.#released();
    void this.close().then(() => {
      this.#leave();
      this.#around.release();
      this.#env.stats.releaseBlock(this.#base);
    });
  }

  async close(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running !== undefined) this.#call(running.moduleId, () => running.handlers.onClose?.());
    await Promise.all(this.#promises);
  }

  async prepare(defined: DefinedModule, moduleId: number): Promise<() => void> {
    const definition = definitionOf(defined, 'access_logger');
    const { schema } = definition;
    const given: unknown = JSON.parse(this.#settings);
    const checked =
      schema === undefined ? { value: given } : await schema['~standard'].validate(given);
    if (checked.issues !== undefined) {
      throw new Error(`its settings are wrong: ${checked.issues[0]?.message ?? ''}`);
    }
    const { marks } = this.#env.scripts;
    marks.enter(moduleId);
    let made: AccessLoggerHandlers | Promise<AccessLoggerHandlers>;
    try {
      made = definition.create(checked.value, this.#around.context);
    } finally {
      marks.leave();
    }
    const handlers = await made;
    if (typeof handlers !== 'object' || typeof handlers?.onLog !== 'function') {
      throw new TypeError('create() gave no onLog');
    }
    return () => {
      const before = this.#running;
      this.#running = { handlers, moduleId };
      this.#env.stats.setGauge(this.#base + index.disabled, 0);
      if (before !== undefined) this.#call(before.moduleId, () => before.handlers.onClose?.());
    };
  }

  disable(): void {
    this.#running = undefined;
    this.#env.stats.setGauge(this.#base + index.disabled, 1);
  }

  failed(error: unknown): void {
    this.#count('load_failures');
    this.#around.writeStack(error);
  }

  #settled(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const info of waiting) this.#log(info);
  }

  #log(info: StreamInfo): void {
    const running = this.#running;
    if (running === undefined || this.#promises.size >= OPEN_MAX) return this.#count('dropped');
    this.#count('entries');
    const entry = new StreamEntry(info, this.#env.loop.clock.ms);
    this.#call(running.moduleId, () => running.handlers.onLog(entry));
  }

  /** Whatever the module does, nobody waits for it, and nobody else ends. */
  #call(moduleId: number, act: () => void | Promise<void>): void {
    const { marks } = this.#env.scripts;
    marks.enter(moduleId);
    try {
      const result: unknown = act();
      if (result instanceof Promise) this.#keep(result, moduleId);
    } catch (error) {
      this.#fault(error);
    } finally {
      marks.leave();
    }
  }

  #keep(promise: Promise<unknown>, moduleId: number): void {
    const { marks } = this.#env.scripts;
    marks.awaits(moduleId);
    const kept = promise
      .then(
        () => undefined,
        (error: unknown) => this.#fault(error),
      )
      .finally(() => {
        marks.awaitsNoMore();
        this.#promises.delete(kept);
      });
    this.#promises.add(kept);
  }

  #fault(error: unknown): void {
    this.#count('errors');
    this.#around.writeStack(error);
  }

  #count(stat: 'entries' | 'dropped' | 'errors' | 'load_failures'): void {
    this.#env.stats.increment(this.#base + index[stat]);
  }
}
