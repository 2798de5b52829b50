/**
 * What operators command a running server to do, through the admin interface or by a signal. Each
 * command says at once whether it was taken; its effects follow.
 */
import type { EventLogs } from '../health/event-log.ts';
import { getLogger, processLog } from '../../shared/logging/process-log.ts';
import type { AdminCommands, CommandResult } from '../admin/admin-context.ts';
import type { DrainRequest, DrainResult, DrainStatus } from '../drain/drain-view.ts';
import type { Drains } from '../drain/drains.ts';
import type { Ending } from '../life-cycle/ending.ts';
import type { UnansweredCommand } from '../../shared/messages/supervisor-to-worker.ts';
import type { WorkerPool } from '../processes/worker-pool.ts';

const log = getLogger('admin');
const done: CommandResult = { ok: true };

export interface ServerCommandsOptions {
  readonly pool: WorkerPool;
  readonly drains: Drains;
  readonly ending: Ending;
  readonly eventLogs: EventLogs;
  /** Health checks fail from the start. */
  readonly startsDraining: boolean;
}

export class ServerCommands implements AdminCommands {
  readonly #options: ServerCommandsOptions;
  #isHealthCheckFailed: boolean;
  #healthChanged: (() => void) | undefined;
  #reopenAdminLogs: (() => void) | undefined;

  constructor(options: ServerCommandsOptions) {
    this.#options = options;
    this.#isHealthCheckFailed = options.startsDraining;
  }

  /** Whether the server says that it drains although it is live. */
  get isUnready(): boolean {
    return this.#isHealthCheckFailed || this.#options.drains.isShown;
  }

  /** One subscriber, called after each change of `isUnready`. */
  onReadinessChange(subscriber: () => void): void {
    this.#healthChanged = subscriber;
    this.#options.drains.onChange(subscriber);
  }

  /** One subscriber, which has logs of its own to open again. */
  onReopenLogs(subscriber: () => void): void {
    this.#reopenAdminLogs = subscriber;
  }

  /** What a new worker has to be told. */
  notices(): readonly UnansweredCommand[] {
    const health: UnansweredCommand = {
      kind: 'set_health_check_failed',
      failed: this.#isHealthCheckFailed,
    };
    return [health, ...this.#options.drains.notices()];
  }

  setHealthCheckFailed(failed: boolean): CommandResult {
    this.#isHealthCheckFailed = failed;
    this.#options.pool.notify({ kind: 'set_health_check_failed', failed });
    this.#healthChanged?.();
    return done;
  }

  drainListeners(request: DrainRequest): DrainResult {
    return this.#options.drains.drainListeners(request);
  }

  undrainListeners(): DrainResult {
    return this.#options.drains.undrainListeners();
  }

  async drainStatus(): Promise<DrainStatus> {
    return await this.#options.drains.drainStatus();
  }

  /** Opens all log files again, here and in the workers, after somebody has moved them away. */
  reopenLogs(): CommandResult {
    this.#options.pool.notify({ kind: 'reopen_logs' });
    try {
      this.#reopenAdminLogs?.();
      this.#options.eventLogs.reopen();
      processLog.reopen();
      return done;
    } catch (error) {
      const reason = (error as Error).message;
      log.warning(reason);
      return { ok: false, reason };
    }
  }

  shutdown(): CommandResult {
    this.#options.ending.request('/quitquitquit');
    return done;
  }

  stop(): void {
    this.#options.drains.stop();
  }
}
