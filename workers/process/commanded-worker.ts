/**
 * What each message of the supervisor causes in this worker. One receive loop, no state of its own
 * beyond the parts of a batch that is not whole yet.
 */
import { errorText } from '../../shared/text/error-text.ts';
import type { Clock } from '../../shared/process/clock.ts';
import type { MessageChannel } from '../../shared/channel/message-channel.ts';
import { enableCoreDumps } from '../../shared/process/core-dumps.ts';
import { configureLogging, getLogger, processLog } from '../../shared/logging/process-log.ts';
import type { WorkerHeritage } from '../../shared/messages/heritage.ts';
import type { SupervisorToWorker } from '../../shared/messages/supervisor-to-worker.ts';
import type { WorkerToSupervisor } from '../../shared/messages/worker-to-supervisor.ts';
import { joinHosts } from '../../shared/resources/clusters/host-parts.ts';
import { joinRoutes } from '../../shared/resources/routes/route-parts.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import { EMPTY_REPORT } from '../../shared/stats/report.ts';
import { WORKER_EXCEPTIONS } from '../../shared/stats/templates/server.ts';
import { Exceptions, guardedClock, surviveExceptions } from '../../shared/process/exceptions.ts';
import type { DataPlane } from '../data-plane/data-plane-commands.ts';
import type { DataPlaneEnv, DataPlaneNotice } from '../loop/data-plane-env.ts';
import { createDataPlane } from '../data-plane/data-plane.ts';
import { WorkerStatStore } from '../stats/worker-stat-store.ts';
import { answerQuestion, isQuestion, type Question } from './answer-questions.ts';
import { collectYoung } from '../../shared/process/young-room.ts';
import { stepOfScripts, type ScriptCommand } from './script-commands.ts';
import { takePages, takeSockets } from './take-descriptors.ts';
import { TraceSender } from './trace-sender.ts';
import { attachPino, componentLog, writeWatched } from './worker-log.ts';
import type { WorkerProfiler } from './worker-profiler.ts';

/** Parts of a batch that wait for its last one. */
const KEPT_UPDATES_MAX = 1_000_000;

/**
 * Loading it takes 20 ms of the worker's time, which a start and its first requests do not wait.
 */
const PINO_DELAY_MS = 2_000;

export type WorkerChannel = MessageChannel<WorkerToSupervisor, SupervisorToWorker>;
/** What is left after the process itself took the greeting and the end. */
export type WorkerCommand = Exclude<
  SupervisorToWorker,
  { readonly kind: 'hello' } | { readonly kind: 'shutdown' }
>;
/** Everything after `start`. */
type StartedCommand = Exclude<WorkerCommand, { readonly kind: 'start' }>;

type WatchCommand = Extract<StartedCommand, { readonly kind: 'watch_requests' }>;

type DrainRelated = Extract<
  StartedCommand,
  { readonly kind: 'drain' | 'undrain' | 'cut_connections' | 'count_connections' }
>;

interface Started {
  readonly dataPlane: DataPlane;
  readonly stats: WorkerStatStore;
}

export class CommandedWorker {
  readonly #exceptions: Exceptions;
  readonly #channel: WorkerChannel;
  readonly #clock: Clock;
  readonly #traces: TraceSender;
  #started: Started | undefined;
  #profiler: WorkerProfiler | undefined;
  #kept: ResourceUpdate[] = [];
  #exceptionBase: number | undefined;
  #hasApplied = false;

  constructor(channel: WorkerChannel, clock: Clock) {
    this.#channel = channel;
    this.#exceptions = new Exceptions(clock, {
      count: () => this.#countException(),
      wornOut: (exceptions) => this.#notify({ kind: 'worn_out', exceptions }),
    });
    this.#clock = guardedClock(clock, this.#exceptions);
    this.#traces = new TraceSender(channel);
  }

  receive(command: WorkerCommand): void {
    if (command.kind === 'start') return this.#start(command.heritage);
    // Nothing is obeyed any more once the end has begun; nothing comes before the start.
    if (this.#started === undefined) return;
    try {
      this.#obey(command, this.#started);
    } catch (error) {
      this.#exceptions.note(error);
    }
  }

  #countException(): void {
    const stats = this.#started?.stats;
    if (stats === undefined) return;
    this.#exceptionBase ??= stats.defineBlock(WORKER_EXCEPTIONS, 'sluice.worker.');
    stats.increment(this.#exceptionBase + WORKER_EXCEPTIONS.index.exceptions);
  }

  /** Cuts what is open and resolves when all logs and the last report are written. */
  async close(): Promise<void> {
    const started = this.#started;
    if (started === undefined) return;
    this.#started = undefined;
    await started.dataPlane.close();
    if (this.#channel.isClosed) return;
    this.#channel.post({ kind: 'stats', id: 0, report: started.stats.takeReport() });
    await this.#channel.end();
  }

  #start(heritage: WorkerHeritage): void {
    process.title = `sluice worker ${heritage.workerIndex}`;
    configureLogging(heritage.log);
    if (heritage.enableCoreDump) enableCoreDumps();
    // A core is of the moment of the exception: such a process ends as ever.
    else surviveExceptions(this.#exceptions);
    const stats = new WorkerStatStore();
    const env: DataPlaneEnv = {
      heritage,
      pages: takePages(),
      stats,
      clock: this.#clock,
      exceptions: this.#exceptions,
      notify: (notice) => this.#notify(notice),
      log: componentLog(),
      writeWatched,
    };
    const dataPlane = createDataPlane(env);
    this.#started = { dataPlane, stats };
    this.#channel.post({ kind: 'ready' });
    this.#clock.after(PINO_DELAY_MS, () => void attachPino(), { unref: true });
  }

  #obey(command: StartedCommand, { dataPlane, stats }: Started): void {
    if (isDrainCommand(command)) return this.#obeyDrain(command, dataPlane);
    if (isQuestion(command)) return void this.#answer(command, { dataPlane, stats });
    switch (command.kind) {
      case 'apply':
        return this.#apply(command, dataPlane);
      case 'adopt_sockets':
        return void this.#adopt(command, dataPlane);
      case 'flush_stats':
        return this.#flush(command.id, stats);
      case 'ping':
        return this.#channel.post({ kind: 'pong', id: command.id });
      case 'set_log_levels':
        return processLog.registry.configure(processLog.registry.fineGrain, command.levels);
      case 'reopen_logs':
        return this.#reopenLogs(dataPlane);
      case 'set_health_check_failed':
        return dataPlane.setHealthCheckFailed(command.failed);
      case 'set_tap':
        return dataPlane.setTap(command);
      case 'set_checking_workers':
        return dataPlane.setCheckingWorkers(command.workers);
      case 'stop_listening':
        return void this.#stopListening(command, dataPlane);
      case 'profile':
        return void this.#profile(command);
      default:
        return this.#obeyRest(command, dataPlane);
    }
  }

  #obeyRest(command: ScriptCommand | WatchCommand, { scripts, watches, quotas }: DataPlane): void {
    switch (command.kind) {
      case 'watch_requests':
        return watches.watch(command.order);
      case 'disable_script':
        return scripts.disable(command.module);
      case 'shared_changed':
        return scripts.maps.take(command);
      case 'quota_command':
        return quotas.take(command);
      case 'scripts':
        return void stepOfScripts(command, scripts).then((answer) => this.#reply(answer));
      default:
        this.#refuse(command);
    }
  }

  /** A log that cannot be opened again goes on with its old file. */
  #reopenLogs(dataPlane: DataPlane): void {
    dataPlane.reopenLogs();
    try {
      processLog.reopen();
    } catch (error) {
      getLogger('main').warning(errorText(error));
    }
  }

  #apply(command: Extract<StartedCommand, { kind: 'apply' }>, dataPlane: DataPlane): void {
    for (const update of command.updates) this.#kept.push(update);
    if (this.#kept.length > KEPT_UPDATES_MAX) throw new Error('a batch has too many updates');
    if (command.more === true) return;
    const updates = this.#kept;
    this.#kept = [];
    const { id } = command;
    try {
      const settled = dataPlane.apply(joinRoutes(joinHosts(updates)));
      const tell = (error?: unknown): void => this.#tellApplied(id, error);
      if (settled === undefined) tell();
      else void settled.then(() => tell(), tell);
    } catch (error) {
      this.#tellApplied(id, error);
    }
  }

  #tellApplied(id: number, error?: unknown): void {
    if (error !== undefined) this.#reply({ kind: 'applied', id, error: errorText(error) });
    else if (id !== 0) this.#reply({ kind: 'applied', id });
    if (this.#hasApplied) return;
    this.#hasApplied = true;
    setImmediate(collectYoung);
  }

  async #adopt(
    command: Extract<StartedCommand, { kind: 'adopt_sockets' }>,
    dataPlane: DataPlane,
  ): Promise<void> {
    const { id, listener } = command;
    try {
      const descriptors = takeSockets(command.sockets);
      await dataPlane.listen(listener, descriptors);
      this.#reply({ kind: 'listening', id });
    } catch (error) {
      this.#reply({ kind: 'listening', id, error: errorText(error) });
    }
  }

  /** The answer to a command that took its time: the worker may have been told to end meanwhile. */
  #reply(reply: WorkerToSupervisor): void {
    if (!this.#channel.isEnding) this.#channel.post(reply);
  }

  async #stopListening(
    command: Extract<StartedCommand, { kind: 'stop_listening' }>,
    dataPlane: DataPlane,
  ): Promise<void> {
    await dataPlane.stopListening(command.listeners, command.takesWaiting);
    this.#reply({ kind: 'stopped_listening', id: command.id });
  }

  async #answer(question: Question, { dataPlane, stats }: Started): Promise<void> {
    this.#reply(await answerQuestion(question, dataPlane, stats));
  }

  async #profile({ id, ...what }: Extract<StartedCommand, { kind: 'profile' }>): Promise<void> {
    try {
      // Loaded when somebody profiles: the inspector costs time and memory.
      const { WorkerProfiler } = await import('./worker-profiler.ts');
      this.#profiler ??= new WorkerProfiler();
      await this.#profiler.obey(what.command, what.path);
      this.#reply({ kind: 'profiled', id });
    } catch (error) {
      this.#reply({ kind: 'profiled', id, error: errorText(error) });
    }
  }

  #obeyDrain(command: DrainRelated, dataPlane: DataPlane): void {
    switch (command.kind) {
      case 'drain':
        return dataPlane.drain(command);
      case 'undrain':
        return dataPlane.undrain(command.listeners);
      case 'cut_connections':
        return dataPlane.cutConnections(command.listeners);
      case 'count_connections':
        return this.#channel.post({
          kind: 'connections',
          id: command.id,
          listeners: dataPlane.countConnections(),
        });
    }
  }

  /** While the supervisor takes nothing in, deltas are merged into the next report. */
  #flush(id: number, stats: WorkerStatStore): void {
    const report = this.#channel.isCongested ? EMPTY_REPORT : stats.takeReport();
    this.#channel.post({ kind: 'stats', id, report });
  }

  #notify(notice: DataPlaneNotice): void {
    if (this.#channel.isClosed) return;
    if (notice.kind === 'tapped') this.#traces.send(notice.session, notice.trace);
    else this.#channel.post(notice);
  }

  /** Only another build can send what this one does not know. */
  #refuse(message: never): void {
    const { kind } = message as { readonly kind: string };
    this.#channel.post({ kind: 'not_recognised', what: kind });
  }
}

function isDrainCommand(command: StartedCommand): command is DrainRelated {
  const { kind } = command;
  if (kind === 'drain' || kind === 'undrain') return true;
  return kind === 'cut_connections' || kind === 'count_connections';
}
