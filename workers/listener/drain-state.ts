/**
 * Whether connections are told to close with their next response: by a drain in progress, whose
 * share grows with time, or because the server's health check was failed on purpose.
 */
import type { ListenerResource } from '../../shared/resources/listener.ts';
import type { DrainCommand } from './listener-commands.ts';
import type { DrainControl } from '../manager/manager.ts';

interface Drain {
  /** CLOCK_MONOTONIC milliseconds. */
  readonly startedMs: number;
  readonly immediate: boolean;
  readonly drainTimeS: number;
  readonly closeIdleAfterMs: number | undefined;
}

export interface DrainOptions {
  readonly drainTimeS: number;
  /** Where the drain itself does not say it. */
  readonly closeIdleAfterMs: number | undefined;
  /** CLOCK_MONOTONIC milliseconds of the present event. */
  readonly nowMs: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** The drain of one version of a filter chain, which another version has replaced. */
export class ChainDrain {
  drain: Drain | undefined = undefined;
}

/** A listener, as far as its drains need it. */
type DrainedListener = Pick<ListenerResource, 'name' | 'drainsOnHealthCheckFailure'>;

/** The worker's own state; every listener has a view of it. */
export class DrainState {
  readonly #options: DrainOptions;
  isHealthCheckFailed = false;
  #ofAll: Drain | undefined = undefined;
  readonly #ofListener = new Map<string, Drain>();

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  start({ startedAtNs, immediate, listeners, ...own }: DrainCommand): void {
    const drain: Drain = {
      startedMs: Number(startedAtNs) / 1e6,
      immediate,
      drainTimeS: own.drainTimeS ?? this.#options.drainTimeS,
      closeIdleAfterMs: own.closeIdleAfterMs ?? this.#options.closeIdleAfterMs,
    };
    if (listeners === undefined) this.#ofAll = drain;
    else for (const name of listeners) this.#ofListener.set(name, drain);
  }

  /** Ends the drain of these listeners, or every drain. */
  stop(listeners?: readonly string[]): void {
    if (listeners !== undefined) return listeners.forEach((name) => this.forget(name));
    this.#ofAll = undefined;
    this.#ofListener.clear();
  }

  /** How long a connection of this listener may be idle now; undefined: no limit by a drain. */
  idleLimitMs(listener: string): number | undefined {
    return this.#drainOf(listener)?.closeIdleAfterMs;
  }

  forget(listener: string): void {
    this.#ofListener.delete(listener);
  }

  /** Connections of a replaced chain drain whatever the listener does. */
  startChain(chain: ChainDrain, immediate: boolean): void {
    chain.drain = {
      startedMs: this.#options.nowMs(),
      immediate,
      drainTimeS: this.#options.drainTimeS,
      closeIdleAfterMs: this.#options.closeIdleAfterMs,
    };
  }

  viewOf(listener: DrainedListener, chain: ChainDrain): DrainControl {
    return new DrainView(this, listener, chain);
  }

  /** Whether a connection of the listener and chain closes with its present answer. */
  shouldClose(listener: string, chain: ChainDrain): boolean {
    const drain = this.#drainOf(listener) ?? chain.drain;
    if (drain === undefined) return false;
    if (drain.immediate) return true;
    if (drain.drainTimeS === 0) return true;
    const elapsedMs = this.#options.nowMs() - drain.startedMs;
    // As Envoy: whole seconds, and everybody is told from half of the time on. A drain of one second
    // would end with connections that were never told, and so counts parts of it.
    const share =
      drain.drainTimeS === 1
        ? elapsedMs / 500
        : Math.floor(elapsedMs / 1000) / Math.ceil(drain.drainTimeS / 2);
    return this.#options.random() < share;
  }

  #drainOf(listener: string): Drain | undefined {
    return this.#ofAll ?? this.#ofListener.get(listener);
  }
}

/** What the connections of one chain see of the drains. */
class DrainView implements DrainControl {
  readonly #drains: DrainState;
  readonly #listener: DrainedListener;
  readonly #chain: ChainDrain;

  constructor(drains: DrainState, listener: DrainedListener, chain: ChainDrain) {
    this.#drains = drains;
    this.#listener = listener;
    this.#chain = chain;
  }

  get isHealthCheckFailed(): boolean {
    return this.#drains.isHealthCheckFailed;
  }

  shouldClose(): boolean {
    const { name, drainsOnHealthCheckFailure } = this.#listener;
    if (drainsOnHealthCheckFailure && this.isHealthCheckFailed) return true;
    return this.#drains.shouldClose(name, this.#chain);
  }
}
