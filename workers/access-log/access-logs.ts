/**
 * The access logs of one worker: gives each configured log to the loggers of its kind, and asks its
 * filter before they see a stream.
 */
import { assert } from '../../shared/process/assert.ts';
import type { AccessLogConfig } from '../../shared/resources/access-loggers/access-loggers.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { compileLogFilter } from './log-filter.ts';
import type { Logger, LoggerEnv, Loggers } from './logger.ts';
import { makeLoggers } from './loggers.ts';
import type { AccessLog } from './types.ts';

/** Logs of one listener or connection manager. */
export interface OpenAccessLogs {
  readonly logs: readonly AccessLog[];
  /** Lets go of the loggers; what they have taken is still written. */
  release(): void;
}

export type AccessLogEnv = LoggerEnv &
  Pick<DataPlaneEnv, 'explainsOnly'> & { readonly runtime: Runtime };

const LOGGER = 'file';
const NO_LOGS: OpenAccessLogs = { logs: [], release: () => undefined };

export class AccessLogs {
  readonly #env: AccessLogEnv;
  readonly #loggers: ReadonlyMap<string, Loggers<AccessLogConfig>>;

  constructor(env: AccessLogEnv) {
    this.#env = env;
    this.#loggers = makeLoggers(env);
  }

  /** Throws when a logger cannot be opened; then none of these logs is open. */
  open(configs: readonly AccessLogConfig[]): OpenAccessLogs {
    if (this.#env.explainsOnly === true) return NO_LOGS;
    const opened: Logger[] = [];
    const release = (): void => {
      for (const logger of opened.splice(0)) logger.release();
    };
    try {
      const logs = configs.map((config) => {
        const loggers = this.#loggers.get(config.kind);
        assert(loggers !== undefined, `no access logger of kind ${config.kind}`);
        const logger = loggers.open(config);
        opened.push(logger);
        return this.#filtered(config, logger);
      });
      return { logs, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  reopen(): void {
    for (const loggers of this.#loggers.values()) loggers.reopen?.();
  }

  /** Resolves when everything is written that can be. */
  async close(): Promise<void> {
    await Promise.all([...this.#loggers.values()].map(async (loggers) => loggers.close()));
  }

  #filtered({ filter }: AccessLogConfig, logger: Logger): AccessLog {
    const passes = filter === undefined ? undefined : compileLogFilter(filter, this.#env.runtime);
    const { exceptions, log } = this.#env;
    return {
      log(info: StreamInfo) {
        try {
          if (passes === undefined || passes(info)) logger.write(info);
        } catch (error) {
          // A line is never worth a request.
          log('error', LOGGER, `cannot write an access log line: ${String(error)}`);
          exceptions.note(error);
        }
      },
    };
  }
}
