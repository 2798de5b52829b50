/**
 * How a worker that has thrown too often is replaced, as gently as there is time for: others accept
 * in its place, its connections are asked to end, and what is left is cut with it. One worker at a
 * time, so that another one accepts meanwhile.
 */
import type { Clock } from '../../shared/process/clock.ts';
import type { StoppableWaits } from './stoppable-waits.ts';
import type { WorkerSlot } from './worker-slot.ts';
import { countConnections } from './worker-questions.ts';

/**
 * How long connections of a worn out worker have, with another worker that accepts, and without
 * one.
 */
const RETIRE_LIMIT_MS = 10_000;
const RETIRE_ALONE_LIMIT_MS = 2_000;
const RETIRE_LOOK_MS = 200;
const RETIRE_STOP_LIMIT_MS = 8_000;
const COUNT_LIMIT_MS = 1_000;

export interface RetirementOptions {
  readonly clock: Clock;
  readonly waits: StoppableWaits;
  /** Another worker accepts for this slot; false: there is none. */
  readonly lendSockets: (slot: WorkerSlot) => Promise<boolean>;
  readonly log: (level: 'error', text: string) => void;
}

export class Retirement {
  readonly #options: RetirementOptions;
  #retiring: Promise<void> = Promise.resolve();

  constructor(options: RetirementOptions) {
    this.#options = options;
  }

  /** The worker in this slot follows those that were named before it. */
  add(slot: WorkerSlot, exceptions: number): void {
    this.#retiring = this.#retiring.then(async () => this.#retire(slot, exceptions));
  }

  async #retire(slot: WorkerSlot, exceptions: number): Promise<void> {
    const { host } = slot;
    if (slot.state !== 'running') return;
    slot.state = 'restarting';
    const { clock, waits, lendSockets, log } = this.#options;
    const name = `worker ${slot.index} (pid ${host.pid})`;
    log('error', `${name} caught ${exceptions} exceptions; it is replaced`);
    host.notify({ kind: 'drain', startedAtNs: clock.monotonicNs(), immediate: true });
    const isCovered = await lendSockets(slot);
    if (isCovered) await host.stopListening([...slot.adopted], false).catch(() => undefined);
    const untilMs = clock.monotonicMs() + (isCovered ? RETIRE_LIMIT_MS : RETIRE_ALONE_LIMIT_MS);
    while (clock.monotonicMs() < untilMs && !waits.isStopped && slot.host === host) {
      const listeners = await countConnections(host, COUNT_LIMIT_MS).catch(() => []);
      if (listeners.every(({ open }) => open === 0)) break;
      await waits.wait(RETIRE_LOOK_MS);
    }
    await host.stop(RETIRE_STOP_LIMIT_MS, 'worn_out');
    const backMs = clock.monotonicMs() + RETIRE_LIMIT_MS;
    while (!isRunning(slot) && clock.monotonicMs() < backMs && !waits.isStopped) {
      await waits.wait(RETIRE_LOOK_MS);
    }
  }
}

function isRunning({ state }: WorkerSlot): boolean {
  return state === 'running';
}
