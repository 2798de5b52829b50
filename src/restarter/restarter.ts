/**
 * The stable main process around the epochs of one server: starts `sluice --restart-epoch N`,
 * passes signals on, speaks to the service manager, and ends when the server does. It decides
 * nothing by itself (epoch-set.ts does) and knows nothing of configuration or traffic.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { builtRoot } from '../../shared/process/built-root.ts';
import { systemClock, type Timer } from '../../shared/process/clock.ts';
import {
  LISTEN_FDS_START,
  LISTEN_FDS_VARIABLE,
  parseEpochStatus,
  STATUS_FD_VARIABLE,
  STORE_SOCKET_VARIABLE,
} from '../../shared/messages/epoch-status.ts';
import { serviceManager, type ServiceManager } from '../../shared/systemd/notify.ts';
import type { RestarterArguments } from './arguments.ts';
import { serveStatus } from './control-socket.ts';
import { EpochSet, type Effect, type ReportEvent } from './epoch-set.ts';
import { reapOrphans } from './zombies.ts';

export type RestarterSignal = 'SIGHUP' | 'SIGUSR1' | 'SIGTERM' | 'SIGINT';

export class Restarter {
  readonly #args: RestarterArguments;
  readonly #epochs = new EpochSet();
  readonly #manager: ServiceManager;
  readonly #startTimers = new Map<number, Timer>();
  readonly #inherited = inheritedSockets(process.env);
  #lastEvent = 'starting';
  readonly #ended: Promise<number>;
  #finish: (code: number) => void = () => undefined;

  constructor(args: RestarterArguments) {
    this.#args = args;
    this.#manager = serviceManager(process.env);
    this.#ended = new Promise((resolve) => (this.#finish = resolve));
  }

  /** Runs until every epoch is gone; resolves with the exit code. */
  async run(): Promise<number> {
    const control = await serveStatus(this.#args.baseId, () => ({
      pid: process.pid,
      epochs: this.#epochs.epochs,
      lastEvent: this.#lastEvent,
    }));
    if (process.pid === 1) {
      process.on('SIGCHLD', () => reapOrphans(new Set(this.#epochs.epochs.map(({ pid }) => pid))));
    }
    // A signal may have ended it all before the first epoch was started.
    if (!this.#epochs.isEnding) this.#start(0);
    const code = await this.#ended;
    control.close();
    return code;
  }

  signal(signal: RestarterSignal): void {
    switch (signal) {
      case 'SIGHUP':
        return this.#carryOut(this.#epochs.restart());
      case 'SIGUSR1':
        return this.#carryOut(this.#epochs.reopenLogs());
      case 'SIGTERM':
      case 'SIGINT':
        return this.#carryOut(this.#epochs.terminate());
    }
  }

  #carryOut(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'start':
          this.#start(effect.epoch);
          break;
        case 'signal':
          sendSignal(effect.pid, effect.signal);
          break;
        case 'report':
          this.#report(effect.event, effect.text);
          break;
        case 'exit':
          this.#finish(effect.code);
          break;
      }
    }
  }

  #start(number: number): void {
    const child = this.#spawn(number);
    const failed = (error: Error): void => {
      this.#carryOut(this.#epochs.startFailed(number, error.message));
    };
    if (child.pid === undefined) {
      child.once('error', failed);
      return;
    }
    this.#epochs.started(number, child.pid);
    this.#startTimers.set(
      number,
      systemClock.after(this.#args.startTimeoutMs, () => {
        this.#carryOut(this.#epochs.startTimedOut(number));
      }),
    );
    this.#readStatus(number, child);
    child.once('exit', (code, signal) => {
      this.#stopTimer(number);
      this.#carryOut(this.#epochs.exited(number, exitCodeOf(code, signal)));
    });
  }

  #spawn(number: number): ChildProcess {
    const { program, sluiceArguments } = this.#args;
    const [command = '', ...before] = program ?? [
      process.execPath,
      join(builtRoot, 'src', 'main.js'),
    ];
    const words = insertBeforeDashes(sluiceArguments, ['--restart-epoch', String(number)]);
    const statusFd = LISTEN_FDS_START + this.#inherited.length;
    return spawn(command, [...before, ...words], {
      stdio: ['inherit', 'inherit', 'inherit', ...this.#inherited, 'pipe'],
      env: epochEnvironment(process.env, this.#inherited.length, statusFd),
    });
  }

  #readStatus(number: number, child: ChildProcess): void {
    const pipe = child.stdio[LISTEN_FDS_START + this.#inherited.length] as Readable;
    pipe.on('error', () => pipe.destroy());
    createInterface({ input: pipe }).on('line', (line) => {
      const status = parseEpochStatus(line);
      if (status === undefined) return;
      if (status.kind === 'phase' && status.phase === 'live') {
        this.#stopTimer(number);
        this.#carryOut(this.#epochs.becameLive(number));
      } else if (number === this.#epochs.live?.number) {
        if (status.kind === 'alive') this.#manager.watchdog();
        if (status.kind === 'status') this.#manager.status(status.text);
        if (status.kind === 'extend_timeout') this.#manager.extendTimeout(status.microseconds);
      }
    });
  }

  #stopTimer(number: number): void {
    this.#startTimers.get(number)?.cancel();
    this.#startTimers.delete(number);
  }

  #report(event: ReportEvent, text: string): void {
    this.#lastEvent = text;
    process.stderr.write(`sluice-restarter: ${text}\n`);
    switch (event) {
      case 'ready':
      case 'rolled_back':
        return this.#manager.ready(text);
      case 'reloading':
        return this.#manager.reloading(systemClock.monotonicNs(), text);
      case 'stopping':
        return this.#manager.stopping(text);
      case 'refused':
      case 'failed':
        return this.#manager.status(text);
    }
  }
}

/** Descriptors that systemd handed to this very process. */
function inheritedSockets(environment: NodeJS.ProcessEnv): number[] {
  const { LISTEN_PID: pid, LISTEN_FDS: count } = environment;
  if (pid !== String(process.pid) || count === undefined) return [];
  return Array.from({ length: Number(count) || 0 }, (_, index) => LISTEN_FDS_START + index);
}

/** The service manager talks to the restarter alone; epochs get a pipe and the sockets instead. */
function epochEnvironment(
  environment: NodeJS.ProcessEnv,
  socketCount: number,
  statusFd: number,
): NodeJS.ProcessEnv {
  const { NOTIFY_SOCKET: store } = environment;
  const own = {
    ...environment,
    [STATUS_FD_VARIABLE]: String(statusFd),
    ...(store === undefined ? {} : { [STORE_SOCKET_VARIABLE]: store }),
  };
  for (const name of [
    'NOTIFY_SOCKET',
    'WATCHDOG_USEC',
    'WATCHDOG_PID',
    'LISTEN_PID',
    'LISTEN_FDS',
  ]) {
    Reflect.deleteProperty(own, name);
  }
  return socketCount === 0 ? own : { ...own, [LISTEN_FDS_VARIABLE]: String(socketCount) };
}

/** What follows `--` is not read by the program. */
function insertBeforeDashes(words: readonly string[], inserted: readonly string[]): string[] {
  const at = words.indexOf('--');
  return at < 0
    ? [...words, ...inserted]
    : [...words.slice(0, at), ...inserted, ...words.slice(at)];
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended a moment ago; its exit is on the way.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
