/**
 * One thread of a module that finds hosts, seen from the supervisor: starts it, hands on what it
 * says, and ends it when it does not answer any more.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { systemClock, type Timer } from '../../../shared/process/clock.ts';
import { builtRoot } from '../../../shared/process/built-root.ts';
import { RUN_MODULE_FLAGS } from '../../../shared/scripts/run-flags.ts';
import type { ScriptModule } from '../../../shared/scripts/script-module.ts';
import { errorText } from '../../../shared/text/error-text.ts';
import type { DiscoveryOrder, DiscoveryReport, ThreadData } from './discovery-messages.ts';

export interface ThreadLimits {
  readonly loopTimeoutMs: number;
  readonly loadTimeoutMs: number;
}

export interface DiscoveryThreadOptions extends ThreadLimits {
  readonly module: ScriptModule;
  readonly took: (report: DiscoveryReport) => void;
  /** Nothing comes from it any more. Called once, unless `end` was. */
  readonly ended: (reason: string) => void;
}

/** Beyond the module's own time, for the thread's start. */
const THREAD_START_MS = 5_000;
/** The limit of the thread, which ends when it has more. */
const HEAP_MIB_MAX = 128;
/** Signs of life that may be missing; a supervisor that was held up itself misses one. */
const MISSED_MAX = 2;

export class DiscoveryThread {
  readonly digest: string;
  readonly #options: DiscoveryThreadOptions;
  readonly #worker: Worker;
  #timer: Timer;
  #missed = 0;
  #isOver = false;

  constructor(options: DiscoveryThreadOptions) {
    const { module, loadTimeoutMs } = options;
    this.#options = options;
    this.digest = module.digest;
    const workerData: ThreadData = { module: { ...module }, loadTimeoutMs };
    this.#worker = new Worker(
      join(builtRoot, 'supervisor', 'scripts', 'discovery', 'thread-entry.cjs'),
      {
        workerData,
        execArgv: [...RUN_MODULE_FLAGS],
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
      },
    );
    this.#worker.unref();
    this.#worker.on('message', (report: DiscoveryReport) => this.#take(report));
    this.#worker.on('error', (error) => this.#over(error.stack ?? errorText(error)));
    this.#worker.on('exit', () => this.#over('its thread ended'));
    const limitMs = loadTimeoutMs + THREAD_START_MS;
    const late = (): void => this.#over(`it was not loaded within ${limitMs} ms`);
    this.#timer = systemClock.after(limitMs, late, { unref: true });
  }

  /** Orders that come before the module is loaded wait for it in the thread. */
  send(order: DiscoveryOrder): void {
    if (!this.#isOver) this.#worker.postMessage(order);
  }

  end(): void {
    this.#isOver = true;
    this.#timer.cancel();
    void this.#worker.terminate();
  }

  #take(report: DiscoveryReport): void {
    if (this.#isOver) return;
    if (report.report === 'ready') this.#beginPings();
    else if (report.report === 'pong') this.#missed = 0;
    else this.#options.took(report);
  }

  #beginPings(): void {
    this.#timer.cancel();
    const { loopTimeoutMs } = this.#options;
    const ping = (): void => {
      if (this.#missed === MISSED_MAX) {
        this.#over(`it held its thread for longer than ${loopTimeoutMs} ms`);
        return;
      }
      this.#missed += 1;
      this.send({ order: 'ping' });
    };
    this.#timer = systemClock.every(loopTimeoutMs / MISSED_MAX, ping, { unref: true });
  }

  #over(reason: string): void {
    if (this.#isOver) return;
    this.end();
    this.#options.ended(reason);
  }
}
