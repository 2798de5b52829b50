/**
 * The listeners of one worker by name: adds, replaces and removes them, and lets what a change
 * takes away drain: chains of a replaced version, removed listeners with what is still open on
 * them. What a drain means for a connection is in drain-state.ts.
 */
import type { ListenerConnections } from '../../shared/messages/worker-to-supervisor.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
import type { DrainCommand, ListeningDescriptor } from './listener-commands.ts';
import type { Address } from '../net/connection-info.ts';
import { reportIoPath } from '../net/io-path.ts';
import type { OverloadGate } from '../loop/overload-gate.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { CompiledChain } from './chain-selector.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { DrainState } from './drain-state.ts';
import { IdleCloser } from './idle-closer.ts';
import type { CompiledListener } from './compiled-listener.ts';
import type { ListenerContext } from './listener-context.ts';
import { WorkerListener } from './worker-listener.ts';

/** Connections that were made so shortly before the end may not have been answered once. */
const LAST_MS = 500;
/** What they may hold up the end by. */
const ANSWER_LIMIT_MS = 150;
const ANSWER_POLL_MS = 5;

export interface ListenerSetParts {
  readonly loop: WorkerLoop;
  readonly limits: ConnectionLimits;
  readonly overload: OverloadGate;
  readonly drain: DrainState;
}

/** A listener that takes new connections. */
export interface ListenerInForce {
  readonly listener: WorkerListener;
  readonly version: CompiledListener;
}

export class ListenerSet {
  readonly #env: DataPlaneEnv;
  readonly #parts: ListenerSetParts;
  readonly #listeners = new Map<string, WorkerListener>();
  /** What new connections of each of them get. */
  readonly #versions = new Map<string, CompiledListener>();
  /** Removed listeners whose connections are still open. */
  readonly #draining = new Set<WorkerListener>();
  readonly #context: ListenerContext;
  readonly #idleCloser: IdleCloser;

  constructor(env: DataPlaneEnv, parts: ListenerSetParts) {
    this.#env = env;
    this.#parts = parts;
    this.#context = {
      ...parts,
      stats: env.stats,
      workerIndex: env.heritage.workerIndex,
      listenerOf: (address) => this.#listenerOf(address),
      afterDrain: (action) => this.#afterDrain(action),
    };
    this.#idleCloser = new IdleCloser({
      loop: parts.loop,
      clock: env.clock,
      listeners: () => this.all(),
      limitMs: (name) => parts.drain.idleLimitMs(name),
    });
    reportIoPath(env);
  }

  get(name: string): WorkerListener | undefined {
    return this.#listeners.get(name);
  }

  /** Listeners that take new connections, in the order in which they came. */
  get inForce(): readonly ListenerInForce[] {
    return [...this.#listeners].flatMap(([name, listener]) => {
      const version = this.#versions.get(name);
      return version === undefined ? [] : [{ listener, version }];
    });
  }

  /** Adds a listener, or puts a new version of it into force. */
  put(compiled: CompiledListener): void {
    const { name } = compiled.resource;
    this.#versions.set(name, compiled);
    const known = this.#listeners.get(name);
    if (known !== undefined) {
      this.#drainChains(known, known.replace(compiled));
      return;
    }
    // A removed listener of the same name drains by its chains.
    this.#parts.drain.forget(name);
    this.#listeners.set(name, new WorkerListener(compiled, this.#context));
  }

  remove(name: string): void {
    const listener = this.#listeners.get(name);
    if (listener === undefined) return;
    const { clock, heritage } = this.#env;
    this.#listeners.delete(name);
    this.#versions.delete(name);
    this.startDrain({
      startedAtNs: clock.monotonicNs(),
      immediate: heritage.drainStrategy === 'immediate',
      listeners: [name],
    });
    this.#drainChains(listener, listener.openChains());
    void listener.stopListening(true);
    listener.remove();
    if (listener.isUsed) {
      this.#draining.add(listener);
      this.#afterDrain(() => this.#cutRemoved(listener));
    }
    this.#afterDrain(() => this.#forgetRemoved(name));
  }

  /** Rejects on the first descriptor that cannot be listened on. */
  async listen(name: string, sockets: readonly ListeningDescriptor[]): Promise<void> {
    const listener = this.#listeners.get(name);
    if (listener === undefined) throw new Error(`cannot listen for ${name}: no such listener`);
    await listener.listen(sockets);
  }

  async stopListening(names: readonly string[], takesWaiting: boolean): Promise<void> {
    const named = names.map((name) => this.#listeners.get(name));
    await Promise.all(named.map(async (listener) => listener?.stopListening(takesWaiting)));
  }

  startDrain(drain: DrainCommand): void {
    this.#parts.drain.start(drain);
    this.#idleCloser.watch();
  }

  countConnections(): readonly ListenerConnections[] {
    return this.all().map((listener) => listener.connectionCounts());
  }

  /** Ends what is open on these listeners at once. */
  cutConnections(names: readonly string[]): void {
    for (const listener of this.all()) {
      if (names.includes(listener.name)) listener.closeConnections();
    }
  }

  /** Resolves when none accepts any more; what is open goes on. */
  async stopAll(): Promise<void> {
    this.#idleCloser.stop();
    await Promise.all(this.all().map((listener) => listener.stopListening(false)));
  }

  /**
   * The server ends, and nobody can connect any more: who came last is answered. Resolves when all
   * of them are, or soon.
   */
  async answerLast(): Promise<void> {
    const { clock } = this.#env;
    const sinceMs = clock.monotonicMs() - LAST_MS;
    const deadlineMs = clock.monotonicMs() + ANSWER_LIMIT_MS;
    this.#parts.drain.start({ startedAtNs: clock.monotonicNs(), immediate: true });
    const isAwaited = (): boolean => this.all().some((each) => each.hasUnanswered(sinceMs));
    while (isAwaited() && clock.monotonicMs() < deadlineMs) {
      await new Promise<void>((resolve) => clock.after(ANSWER_POLL_MS, resolve));
    }
  }

  cutAll(): void {
    for (const listener of this.all()) listener.closeConnections();
  }

  /** Also removed ones with open connections. */
  all(): readonly WorkerListener[] {
    return [...this.#listeners.values(), ...this.#draining];
  }

  /** One of exactly this address, else one of any address with this port. */
  #listenerOf({ ip, port }: Address): WorkerListener | undefined {
    let found: WorkerListener | undefined;
    for (const listener of this.#listeners.values()) {
      const fit = listener.fitOf(ip, port);
      if (fit === 'address') return listener;
      if (fit === 'port') found ??= listener;
    }
    return found;
  }

  #drainChains(listener: WorkerListener, chains: ReadonlySet<CompiledChain>): void {
    if (chains.size === 0) return;
    const isImmediate = this.#env.heritage.drainStrategy === 'immediate';
    for (const { drain } of chains) this.#parts.drain.startChain(drain, isImmediate);
    this.#afterDrain(() => listener.closeChains(chains));
  }

  #afterDrain(action: () => void): void {
    const { clock, heritage } = this.#env;
    const { loop } = this.#parts;
    const act = (): void => loop.run(undefined, action);
    clock.after(heritage.drainTimeS * 1000, act, { unref: true });
  }

  #cutRemoved(listener: WorkerListener): void {
    listener.closeConnections();
    this.#draining.delete(listener);
  }

  /** Forgets a listener; it is not known of another listener of the name that this one drained. */
  #forgetRemoved(name: string): void {
    if (!this.#listeners.has(name)) this.#parts.drain.forget(name);
  }
}
