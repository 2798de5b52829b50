/**
 * One server from its options to its exit code: what ends it and how it ends. The start itself is
 * server.ts's.
 */
import { systemClock, type Clock } from '../../shared/process/clock.ts';
import { exitProcess } from '../../shared/process/exit.ts';
import type { Options } from '../../shared/process/options.ts';
import { getLogger } from '../../shared/logging/process-log.ts';
import {
  closeUnaskedInspector,
  type GroupSignal,
  type SignalInbox,
} from '../../shared/process/signals.ts';
import { Ending } from '../life-cycle/ending.ts';
import type { Server, ServerInput } from './server.ts';
import type { HotRestartSession } from '../hot-restart/session.ts';
import { reportStartFailure } from '../life-cycle/start-failure.ts';
import type { EarlyWorkers } from '../processes/early-workers.ts';
import { WorkerPool } from '../processes/worker-pool.ts';
import { writeFileWhole } from '../start/write-file-whole.ts';

/** npm and a terminal both deliver one Ctrl-C; only a later signal is a second one. */
const SAME_SIGNAL_MS = 100;

const log = getLogger('main');

export interface ServeInput extends Omit<ServerInput, 'clock' | 'ending' | 'pool' | 'session'> {
  readonly signals: SignalInbox;
  readonly early: EarlyWorkers;
}

/**
 * Runs the server until it is told to end, with `--mode init_only` until its sockets are bound;
 * resolves with the exit code. A failed start is one line
 * on standard error (and in the log, where that is somewhere else) and code 1.
 */
export async function serve(input: ServeInput): Promise<0 | 1> {
  const { options, early } = input;
  const clock = systemClock;
  const ending = new Ending();
  const run: Run = {
    ending,
    clock,
    pool: new WorkerPool({ concurrency: options.concurrency, clock, early, log: log.log }),
    server: undefined,
    session: undefined,
  };
  input.signals.deliverTo(signalReceiver(run, input.options.drainOnSigterm));
  const start = startServer(run, input);
  const failure = await Promise.race([
    start.then(
      () => undefined,
      (error: unknown) => error ?? new Error('the start failed'),
    ),
    ending.requested.then(() => undefined),
  ]);
  if (failure !== undefined) {
    killRun(run);
    reportStartFailure(failure, input.options);
    return 1;
  }
  if (input.options.mode === 'init_only' && !ending.isRequested) {
    killRun(run);
    log.info('exiting');
    return 0;
  }
  log.warning(`ending: ${await ending.requested}`);
  if (run.server === undefined) killRun(run);
  else await run.server.stop();
  // A start that was cut short ends in an error that nobody needs any more.
  await start.catch(() => undefined);
  return 0;
}

interface Run {
  readonly ending: Ending;
  readonly clock: Clock;
  readonly pool: WorkerPool;
  /** Absent while its code is loaded. */
  server: Server | undefined;
  /** Absent until its names are taken, and with `--disable-hot-restart`. */
  session: HotRestartSession | undefined;
}

/** Rejects with `HotRestartRefused` when the base id is in use. */
async function openSession(options: Options, clock: Clock): Promise<HotRestartSession | undefined> {
  if (options.disableHotRestart) return undefined;
  const { HotRestartSession: LoadedSession } = await import('../hot-restart/session.ts');
  const session = LoadedSession.open({ options, clock, log: log.log });
  if (options.baseIdPath !== '') {
    const failure = writeFileWhole(options.baseIdPath, String(session.baseId));
    if (failure !== undefined) {
      log.critical(`cannot open base id output file ${options.baseIdPath} for writing: ${failure}`);
    }
  }
  return session;
}

/** Workers are spawned before the server's own code is loaded, so that both load side by side. */
async function startServer(run: Run, input: ServeInput): Promise<void> {
  const { options, hotRestartVersion } = input;
  if (options.mode !== 'init_only') run.pool.spawn();
  run.session = await openSession(options, run.clock);
  const baseId = run.session?.baseId ?? options.baseId;
  log.info(
    `initializing epoch ${options.restartEpoch} ` +
      `(base id=${baseId}, hot restart version=${hotRestartVersion})`,
  );
  const { Server: LoadedServer } = await import('./server.ts');
  closeUnaskedInspector();
  if (run.ending.isRequested) return;
  const { clock, ending, pool, session } = run;
  run.server = new LoadedServer({ ...input, clock, ending, pool, session });
  await run.server.start();
}

function killRun(run: Run): void {
  run.pool.kill();
  run.server?.close();
  run.session?.close();
}

function signalReceiver(run: Run, drainsFirst: boolean): (signal: GroupSignal) => void {
  const end = endReceiver(run, drainsFirst);
  return (signal) => {
    switch (signal) {
      case 'SIGHUP':
        return run.server?.refuseReload();
      case 'SIGUSR1':
        log.warning('caught SIGUSR1');
        return run.server?.reopenLogs();
      case 'SIGINT':
      case 'SIGTERM':
        return end(signal);
    }
  };
}

/** Each further signal ends what the one before it began to end gently. */
function endReceiver(run: Run, drainsFirst: boolean): (signal: GroupSignal) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  let isDraining = false;
  return (signal) => {
    const now = run.clock.monotonicMs();
    if (now - lastMs <= SAME_SIGNAL_MS) return;
    lastMs = now;
    const mayDrain = drainsFirst && signal === 'SIGTERM' && !run.ending.isRequested;
    if (mayDrain && !isDraining && run.server?.drainAndEnd() === true) {
      isDraining = true;
      return log.warning('caught SIGTERM; draining before the end');
    }
    if (run.ending.request(`caught ${signal}`)) return;
    log.critical(`caught ${signal} again; ending at once`);
    killRun(run);
    exitProcess(1);
  };
}
