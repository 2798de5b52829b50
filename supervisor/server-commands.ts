/**
 * What operators command a running server to do, through the admin interface or by a signal. Each
 * command says at once whether it was taken; its effects follow.
 */
import type { Clock, Timer } from '../shared/clock.ts';
import type { ListenerResource } from '../shared/resources/listener.ts';
import { getLogger, processLog } from '../shared/logging/process-log.ts';
import type { AdminCommands, CommandResult } from './admin/admin-context.ts';
import type { Ending } from './ending.ts';
import type { OpenListeners } from './open-listeners.ts';
import type { ServerStats } from './server-stats.ts';
import type { WorkerNotice } from './worker-host.ts';
import type { WorkerPool } from './worker-pool.ts';

const log = getLogger('admin');
const done: CommandResult = { ok: true };

export interface ServerCommandsOptions {
  readonly pool: WorkerPool;
  readonly listeners: OpenListeners;
  readonly ending: Ending;
  readonly clock: Clock;
  readonly serverStats: ServerStats;
  readonly drainTimeMs: number;
  readonly drainsImmediately: boolean;
}

export class ServerCommands implements AdminCommands {
  readonly #options: ServerCommandsOptions;
  #isHealthCheckFailed = false;
  #stopped: 'none' | 'inbound' | 'all' = 'none';
  #drain: Extract<WorkerNotice, { readonly kind: 'drain' }> | undefined;
  #drainEnd: Timer | undefined;
  #healthChanged: (() => void) | undefined;
  #reopenAdminLogs: (() => void) | undefined;

  constructor(options: ServerCommandsOptions) {
    this.#options = options;
  }

  get isHealthCheckFailed(): boolean {
    return this.#isHealthCheckFailed;
  }

  /** Whether listeners of this direction were told to drain. */
  isStopped(direction: ListenerResource['direction']): boolean {
    return this.#stopped === 'all' || (this.#stopped === 'inbound' && direction === 'INBOUND');
  }

  /** One subscriber, called after each change of the health state. */
  onHealthChange(subscriber: () => void): void {
    this.#healthChanged = subscriber;
  }

  /** One subscriber, which has logs of its own to open anew. */
  onReopenLogs(subscriber: () => void): void {
    this.#reopenAdminLogs = subscriber;
  }

  /** What a new worker has to be told. */
  notices(): readonly WorkerNotice[] {
    const health: WorkerNotice = {
      kind: 'set_health_check_failed',
      failed: this.#isHealthCheckFailed,
    };
    return [health, ...(this.#drain === undefined ? [] : [this.#drain])];
  }

  setHealthCheckFailed(failed: boolean): CommandResult {
    this.#isHealthCheckFailed = failed;
    this.#options.pool.notify({ kind: 'set_health_check_failed', failed });
    this.#healthChanged?.();
    return done;
  }

  drainListeners(how: Parameters<AdminCommands['drainListeners']>[0]): CommandResult {
    const names = this.#names(how.inboundOnly);
    if (!how.skipExit && this.#stopped !== 'all') {
      this.#stopped = how.inboundOnly ? 'inbound' : 'all';
    }
    if (!how.graceful && !how.skipExit) {
      void this.#stopListeners(names);
      return done;
    }
    if (this.#drain !== undefined) return done;
    const { clock, pool, drainTimeMs, drainsImmediately } = this.#options;
    this.#drain = {
      kind: 'drain',
      startedAtNs: clock.monotonicNs(),
      immediate: drainsImmediately,
      listeners: names,
    };
    pool.notify(this.#drain);
    if (!how.skipExit) {
      this.#drainEnd = clock.after(drainTimeMs, () => void this.#stopListeners(names));
    }
    return done;
  }

  /** Opens all log files anew, here and in the workers, after somebody has moved them away. */
  reopenLogs(): CommandResult {
    this.#options.pool.notify({ kind: 'reopen_logs' });
    try {
      this.#reopenAdminLogs?.();
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
    this.#drainEnd?.cancel();
  }

  #names(inboundOnly: boolean): readonly string[] {
    return this.#options.listeners
      .resources()
      .filter(({ direction }) => !inboundOnly || direction === 'INBOUND')
      .map(({ name }) => name);
  }

  async #stopListeners(names: readonly string[]): Promise<void> {
    const { listeners, pool, serverStats } = this.#options;
    // Closed here first, so that a worker that is replaced meanwhile gets none of them.
    listeners.close(names);
    await pool.stopListening(names);
    serverStats.listenersStopped(names.length);
    serverStats.setListenerCount(listeners.size);
  }
}
