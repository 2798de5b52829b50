/**
 * The parts of one server and the order in which they start and end. Each part's own matters are
 * its own; here is only which comes after which.
 *
 * Workers load themselves while the configuration is read. Sockets are bound before any worker is
 * set up, so that a port in use ends the start early. Connections are taken only when every worker
 * has its configuration.
 */
import { Exceptions, surviveExceptions } from '../../shared/process/exceptions.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import { type Clock, processAgeMs } from '../../shared/process/clock.ts';
import { getLogger, processLog } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';
import { closeUnaskedInspector } from '../../shared/process/signals.ts';
import { configureServerLog } from '../start/configure-server-log.ts';
import type { Ending } from '../life-cycle/ending.ts';
import { joinEpochs, type Epochs } from './join-epochs.ts';
import type { HotRestartSession } from '../hot-restart/session.ts';
import { LifeCycle } from '../life-cycle/life-cycle.ts';
import { formatProblem } from '../config/config-error.ts';
import { loadConfiguration } from '../start/load-configuration.ts';
import { listenerLines } from './announce-listeners.ts';
import { ServerAdmin } from './server-admin.ts';
import { makeServerParts, type ServerParts } from './server-parts.ts';
import { reportPhases, type PhaseReports } from '../life-cycle/phase-reports.ts';
import { serverStateOf } from '../life-cycle/server-state.ts';
import type { WorkerPool } from '../processes/worker-pool.ts';
import { makeWorkerProvision } from './worker-provision.ts';
import { workerSubscriptions } from './worker-subscriptions.ts';

/**
 * From the request to end until workers are killed: longer than one takes by itself where it gets
 * little time, because its last log lines are lost then.
 */
const STOP_LIMIT_MS = 8_000;

/** For the sinks, after the workers have ended. */
const LAST_FLUSH_LIMIT_MS = 500;

/** Workers answer within milliseconds; one that is stuck holds up no end. */
const END_LISTENING_LIMIT_MS = 300;

const log = getLogger('main');

export interface ServerInput {
  readonly options: Options;
  /** The options as `/server_info` prints them. */
  readonly commandLine: JsonObject;
  /** `revision/release/tree status/build mode/TLS library`. */
  readonly version: string;
  /** What `--hot-restart-version` prints. */
  readonly hotRestartVersion: string;
  readonly clock: Clock;
  readonly ending: Ending;
  /** Its processes were made already. */
  readonly pool: WorkerPool;
  /** Absent with `--disable-hot-restart`. */
  readonly session: HotRestartSession | undefined;
}

/** The start was cut short by a request to end, which somebody else answers. */
class StartCancelled extends Error {}

export class Server {
  readonly #input: ServerInput;
  readonly #life = new LifeCycle();
  #parts: ServerParts | undefined;
  #admin: ServerAdmin | undefined;
  #epochs: Epochs | undefined;
  readonly #reports: PhaseReports;

  constructor(input: ServerInput) {
    this.#input = input;
    this.#reports = reportPhases({
      life: this.#life,
      clock: input.clock,
      environment: process.env,
      restartEpoch: input.options.restartEpoch,
      isHealthy: () => input.pool.status().every(({ state }) => state === 'running'),
      sockets: () => this.#parts?.listeners.ownDescriptors() ?? [],
      isSucceeded: () => this.#epochs?.predecessor.isSucceeded === true,
      restarterGone: () => this.#restarterGone(),
    });
  }

  /**
   * Resolves when the server is live, or with `--mode init_only` bound. Rejects with an error that
   * start-failure.ts knows, or when the end was requested meanwhile; the caller then ends what has
   * been started.
   */
  async start(): Promise<void> {
    const { options, clock, pool } = this.#input;
    const configuration = await loadConfiguration(options, clock);
    log.debug(`the configuration is read after ${processAgeMs()} ms`);
    for (const problem of configuration.warnings) log.warning(formatProblem(problem));
    this.#continue();
    const logSettings = configureServerLog(options, configuration.bootstrap);
    const parts = await makeServerParts({ ...this.#input, configuration });
    this.#parts = parts;
    pool.deliverTo(workerSubscriptions(parts));
    this.#continue();
    this.#followPhases(parts);
    processLog.registry.onChange((levels) => {
      pool.notify({ kind: 'set_log_levels', levels });
    });
    this.#life.transition('warming');
    const admin = new ServerAdmin({ ...this.#input, parts, life: this.#life });
    this.#admin = admin;
    const epochs = this.#joinEpochs(parts, admin);
    await epochs?.successor.takeOver();
    this.#continue();
    parts.upstreams.start(parts.dynamic);
    if (parts.listeners.size === 0) {
      parts.listeners.bindAll(configuration.resolved.listeners, options.concurrency);
    }
    parts.listenersBound();
    if (options.mode === 'init_only') return await admin.start();
    const mayListen = this.#initialize(parts);
    const started = pool.start(
      makeWorkerProvision(parts, options, { logSettings, mayListen, next: epochs?.predecessor }),
    );
    const isAdminOpen = admin.startIfWaiting(mayListen);
    await Promise.all([started, isAdminOpen]);
    this.#continue();
    parts.workersStarted();
    closeUnaskedInspector();
    this.#life.transition('live');
    if (!(await isAdminOpen)) await admin.start();
    this.#continue();
    epochs?.predecessor.live();
    await epochs?.successor.live();
    this.#surviveExceptions(parts);
    log.info('starting main dispatch loop');
    await processLog.attachPino();
  }

  /** From here to the end a page, an update or a sink may fail, and never the process. */
  #surviveExceptions({ serverStats }: ServerParts): void {
    const { clock, options } = this.#input;
    if (options.enableCoreDump || this.#life.isEnding) return;
    const end = surviveExceptions(
      new Exceptions(clock, { count: () => serverStats.exceptionCaught() }),
    );
    this.#life.subscribe(({ to }) => {
      if (to === 'terminating') end();
    });
  }

  /** A log that cannot be opened again goes on with its old file. */
  reopenLogs(): void {
    if (this.#parts !== undefined) return void this.#parts.commands.reopenLogs();
    try {
      processLog.reopen();
    } catch (error) {
      log.warning((error as Error).message);
    }
  }

  /** SIGHUP: Envoy ignores it; an operator who expects a reload has to hear so. */
  refuseReload(): void {
    log.warning('SIGHUP has no effect; sluice-restarter uses it for a hot restart');
    this.#reports.reloadRefused();
  }

  /**
   * Drains all listeners, then requests the end. False when that is no use, as before the start.
   */
  drainAndEnd(): boolean {
    if (this.#parts === undefined || this.#life.phase !== 'live') return false;
    const own = { minMs: 0, exits: true };
    const all = { inboundOnly: false, graceful: true, skipExit: false, own };
    return this.#parts.drains.drainListeners(all).ok;
  }

  /** Ends everything in order; resolves when no worker is left and all is written. */
  async stop(): Promise<void> {
    const isAlone = this.#life.phase === 'live';
    this.#life.transition('terminating');
    log.info('shutting down server instance');
    this.#epochs?.predecessor.stop();
    // Ending the live epoch on purpose ends the one before it, too.
    if (isAlone) await this.#epochs?.successor.endParent();
    await this.#endListening();
    this.#parts?.stop();
    await this.#input.pool.stop(STOP_LIMIT_MS);
    log.info('main dispatch loop exited');
    await this.#epochs?.predecessor.tellLast();
    await this.#flushLast();
    this.close();
    this.#life.transition('ended');
    log.info('exiting');
  }

  /**
   * While the workers still serve: who connects from here on is refused, and who is connected
   * already is answered by a worker.
   */
  async #endListening(): Promise<void> {
    const listeners = this.#parts?.listeners;
    if (listeners === undefined) return;
    const { names } = listeners;
    listeners.closeAll(this.#epochs?.predecessor.passedSockets);
    const { clock, pool } = this.#input;
    await new Promise<void>((resolve) => {
      const limit = clock.after(END_LISTENING_LIMIT_MS, resolve);
      void pool.endListening(names).then(() => {
        limit.cancel();
        resolve();
      });
    });
  }

  /** Gives back what is open here; the caller ends the workers. */
  close(): void {
    this.#parts?.stop();
    this.#parts?.listeners.closeAll(this.#epochs?.predecessor.passedSockets);
    this.#admin?.close();
    this.#epochs?.predecessor.stop();
    this.#input.session?.close();
    this.#reports.stop();
  }

  /** A sink that takes nothing must not hold up the end. */
  async #flushLast(): Promise<void> {
    const { clock } = this.#input;
    await new Promise<void>((resolve) => {
      const limit = clock.after(LAST_FLUSH_LIMIT_MS, resolve);
      void this.#finishStats().then(() => {
        limit.cancel();
        resolve();
      });
    });
  }

  async #finishStats(): Promise<void> {
    try {
      await this.#parts?.stats.finish();
    } catch (error) {
      log.error(`cannot flush statistics for the last time: ${String(error)}`);
    }
  }

  /** Resolves when connections may be accepted. */
  async #initialize(parts: ServerParts): Promise<void> {
    await parts.dynamic.runtimeLayers();
    await parts.dynamic.clusters();
    await parts.upstreams.ready();
    if (this.#input.ending.isRequested) return;
    this.#life.transition('initializing');
    await parts.dynamic.startListeners();
    parts.listeners.closeUnwanted();
    if (this.#input.ending.isRequested) return;
    parts.dynamic.listeners.serving();
    log.info('all dependencies initialized. starting workers');
    for (const line of listenerLines(parts.listeners.status())) log.info(line);
  }

  #continue(): void {
    if (this.#input.ending.isRequested) throw new StartCancelled('the server was told to end');
  }

  #restarterGone(): void {
    if (this.#life.isEnding) return;
    log.critical('sluice-restarter is gone; draining before the end');
    if (!this.drainAndEnd()) this.#input.ending.request('sluice-restarter is gone');
  }

  #followPhases(parts: ServerParts): void {
    const publish = (): void => {
      parts.serverStats.setState(serverStateOf(this.#life.phase, parts.commands.isUnready));
    };
    this.#life.subscribe(({ from, to }) => {
      log.debug(`phase ${from} -> ${to} after ${processAgeMs()} ms`);
      publish();
    });
    parts.commands.onReadinessChange(publish);
    parts.listeners.onChanged((name, fds) => this.#reports.listenerChanged(name, fds));
    parts.drains.onProgress((open, deadlineMs) => this.#reports.drainProgressed(open, deadlineMs));
  }

  #joinEpochs(parts: ServerParts, admin: ServerAdmin): Epochs | undefined {
    const { session } = this.#input;
    if (session === undefined) return undefined;
    this.#epochs = joinEpochs({
      ...this.#input,
      session,
      parts,
      life: this.#life,
      closeAdmin: () => admin.stopListening(),
      reopenAdmin: () => admin.reopen(),
    });
    return this.#epochs;
  }
}
