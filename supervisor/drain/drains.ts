/**
 * All drains of this server's listeners that an operator commands: makes each from its request,
 * keeps one per listener at a time, undoes them, and says how far they are. The drain of a hot
 * restart is predecessor.ts's.
 */
import type { Clock } from '../../shared/process/clock.ts';
import { getLogger } from '../../shared/logging/process-log.ts';
import type {
  DrainCommands,
  DrainRequest,
  DrainResult,
  DrainStatus,
  ListenerDrainStatus,
  OwnDrainParams,
} from './drain-view.ts';
import type { Ending } from '../life-cycle/ending.ts';
import type { OpenListeners } from '../sockets/open-listeners.ts';
import type { ListenerResource } from '../../shared/resources/listener.ts';
import type { UnansweredCommand } from '../../shared/messages/supervisor-to-worker.ts';
import type { WorkerPool } from '../processes/worker-pool.ts';
import { takeCensus } from './connection-census.ts';
import { ListenerDrain, type DrainOwner, type DrainPlan } from './listener-drain.ts';

const log = getLogger('main');

export interface DrainsOptions {
  readonly pool: WorkerPool;
  readonly listeners: OpenListeners;
  readonly ending: Ending;
  readonly clock: Clock;
  readonly drainTimeMs: number;
  readonly drainsImmediately: boolean;
  /** Counts listeners that were closed. */
  readonly listenersClosed: (count: number) => void;
}

/**
 * How long a drain goes on: open connections, milliseconds until its end.
 */
export type DrainProgress = (open: number, deadlineMs: number) => void;

export class Drains implements DrainCommands {
  readonly #options: DrainsOptions;
  #drains: ListenerDrain[] = [];
  #stopped: 'none' | 'inbound' | 'all' = 'none';
  #changed: (() => void) | undefined;
  #progressed: DrainProgress | undefined;

  constructor(options: DrainsOptions) {
    this.#options = options;
  }

  /** Whether the server says that it drains: with our own parameters only, as Envoy does. */
  get isShown(): boolean {
    return this.#drains.some(({ plan }) => plan.isOwn);
  }

  /** One subscriber, called when `isShown` may have changed. */
  onChange(subscriber: () => void): void {
    this.#changed = subscriber;
  }

  /** One subscriber, called several times a second while a drain of our own goes on. */
  onProgress(subscriber: DrainProgress): void {
    this.#progressed = subscriber;
  }

  /** What a new worker has to be told. */
  notices(): readonly UnansweredCommand[] {
    return this.#drains.map(({ notice }) => notice);
  }

  /** Whether listeners of this direction were told to drain, so that none is added any more. */
  isStopped(direction: ListenerResource['direction']): boolean {
    return this.#stopped === 'all' || (this.#stopped === 'inbound' && direction === 'INBOUND');
  }

  drainListeners(request: DrainRequest): DrainResult {
    const result = this.#drainListeners(request);
    const concernsAll = !request.skipExit && request.own?.listener === undefined;
    if (result.ok && concernsAll && this.#stopped !== 'all') {
      this.#stopped = request.inboundOnly ? 'inbound' : 'all';
    }
    return result;
  }

  #drainListeners(request: DrainRequest): DrainResult {
    const { own } = request;
    if (own === undefined) return this.#drainAsEnvoy(request);
    const names = this.#options.listeners
      .configured()
      .filter(({ direction }) => !request.inboundOnly || direction === 'INBOUND')
      .map(({ name }) => name)
      .filter((name) => own.listener === undefined || name === own.listener);
    if (own.listener !== undefined && names.length === 0) {
      return { ok: false, reason: `no listener ${own.listener}` };
    }
    const running = this.#running(names);
    const same = running.find(({ plan }) => plan.isOwn && includesAll(plan.listeners, names));
    if (same !== undefined) return this.#ended(same, own);
    const other = running.find(({ plan }) => !includesAll(names, plan.listeners));
    if (other !== undefined) {
      return {
        ok: false,
        reason: `a drain of ${other.plan.listeners.join(', ')} is in progress; undo it first`,
      };
    }
    for (const drain of running) drain.abandon();
    return this.#ended(this.#begin(this.#planOf(names, request, own)), own);
  }

  undrainListeners(): DrainResult {
    if (this.#drains.length === 0) return { ok: false, reason: 'nothing is draining' };
    const closed = this.#drains.find(({ hasClosed }) => hasClosed);
    if (closed !== undefined) {
      const names = closed.plan.listeners.join(', ');
      return { ok: false, reason: `cannot undo the drain: listeners are closed: ${names}` };
    }
    for (const drain of this.#drains) drain.undo();
    this.#drains = [];
    this.#stopped = 'none';
    log.warning('the drain is undone');
    this.#changed?.();
    return { ok: true };
  }

  async drainStatus(): Promise<DrainStatus> {
    const census = await takeCensus(this.#options.pool);
    const listeners = this.#options.listeners.status().map(({ name }): ListenerDrainStatus => {
      const drain = this.#drains.findLast(({ plan }) => plan.listeners.includes(name));
      if (drain !== undefined) return drain.statusOf(name, census);
      const { open, idle, streams } = census.of(name);
      const isOpen = this.#options.listeners.names.includes(name);
      const state = isOpen ? 'serving' : open === 0 ? 'drained' : 'closed';
      const percent = state === 'drained' ? 100 : 0;
      return { name, state, open, idle, active: open - idle, streams, percent };
    });
    return { isComplete: census.isComplete, listeners };
  }

  stop(): void {
    for (const drain of this.#drains) drain.abandon();
  }

  /** Parameters of Envoy alone: what it does, and nothing more. */
  #drainAsEnvoy(request: DrainRequest): DrainResult {
    const names = this.#options.listeners
      .resources()
      .filter(({ direction }) => !request.inboundOnly || direction === 'INBOUND')
      .map(({ name }) => name);
    const closesNow = !request.graceful && !request.skipExit;
    if (closesNow && this.#drains.length > 0) {
      // Connections are told to close by the drain that goes on.
      void this.#closeListeners(names);
      return { ok: true };
    }
    if (this.#drains.length > 0) return { ok: true };
    this.#begin({
      listeners: names,
      isOwn: false,
      acceptsMeanwhile: !closesNow,
      closes: !request.skipExit,
      minMs: 0,
      maxMs: this.#options.drainTimeMs,
      immediate: this.#options.drainsImmediately,
      closeIdleAfterMs: undefined,
    });
    return { ok: true };
  }

  #planOf(listeners: readonly string[], request: DrainRequest, own: OwnDrainParams): DrainPlan {
    return {
      listeners,
      isOwn: true,
      acceptsMeanwhile: request.graceful,
      closes: true,
      minMs: own.minMs,
      maxMs: own.maxMs ?? Math.max(own.minMs, this.#options.drainTimeMs),
      immediate: this.#options.drainsImmediately || !request.graceful,
      closeIdleAfterMs: own.closeIdleAfterMs,
    };
  }

  #begin(plan: DrainPlan): ListenerDrain {
    const { clock, pool } = this.#options;
    const startedMs = clock.monotonicMs();
    const owner: DrainOwner = {
      clock,
      notify: (notice) => pool.notify(notice),
      census: async () => await takeCensus(pool),
      closeListeners: async (names) => await this.#closeListeners(names),
      progressed: (open) =>
        this.#progressed?.(open, plan.maxMs - (clock.monotonicMs() - startedMs)),
    };
    const drain = new ListenerDrain(plan, owner);
    const kept = this.#drains.filter((one) => !includesAll(plan.listeners, one.plan.listeners));
    this.#drains = [...kept, drain];
    log.info(`draining ${plan.listeners.length} listeners within ${plan.maxMs / 1000} s`);
    drain.start();
    this.#changed?.();
    return drain;
  }

  #ended(drain: ListenerDrain, { exits }: OwnDrainParams): DrainResult {
    if (exits) void this.#exitAfter(drain);
    return { ok: true, ended: drain.ended };
  }

  async #exitAfter(drain: ListenerDrain): Promise<void> {
    const end = await drain.ended;
    if (end.kind === 'undone') return;
    const cut = end.cut === 0 ? '' : `, ${end.cut} connections cut at the deadline`;
    this.#options.ending.request(`drained${cut}`);
  }

  #running(names: readonly string[]): readonly ListenerDrain[] {
    return this.#drains.filter(
      ({ isOver, plan }) => !isOver && plan.listeners.some((name) => names.includes(name)),
    );
  }

  async #closeListeners(names: readonly string[]): Promise<void> {
    const { listeners, pool, listenersClosed } = this.#options;
    const open = listeners.names.filter((name) => names.includes(name));
    // Closed here first, so that a worker that is replaced meanwhile gets none of them.
    listeners.close(open);
    await pool.endListening(open);
    listenersClosed(open.length);
  }
}

function includesAll(names: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((name) => names.includes(name));
}
