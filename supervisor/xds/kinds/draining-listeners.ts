/**
 * Versions of listeners, and filter chains of them, that only old connections use: what they need
 * is held and dumps show them until the drain time is over.
 */
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import { LingeringListener } from '../../store/lingering-listener.ts';
import type { ResourceStore, ResourceVersion } from '../../store/resource-store.ts';
import type { ResourceUse } from '../../store/resource-use.ts';
import { goneChains, routesHolder } from './listener-changes.ts';

type Version = ResourceVersion<'listener'>;

export interface DrainingListenersOptions {
  readonly store: ResourceStore;
  readonly clock: Clock;
  readonly drainTimeMs: number;
  /** There are more or fewer of them. */
  readonly counted: () => void;
}

export class DrainingListeners {
  readonly #options: DrainingListenersOptions;
  readonly #timers = new Set<Timer>();
  /** By listener, the oldest first. */
  readonly #draining = new Map<string, readonly LingeringListener[]>();
  #chains = 0;

  constructor(options: DrainingListenersOptions) {
    this.#options = options;
  }

  /** Versions of all listeners. */
  get versions(): number {
    return [...this.#draining.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Chains that are gone from listeners which go on. */
  get chains(): number {
    return this.#chains;
  }

  /** The connections of this version; `uses` are released with the last of them. */
  drain(name: string, uses: readonly ResourceUse[], version: Version | undefined): void {
    const lingering = version && new LingeringListener(version);
    const draining = this.#draining.get(name) ?? [];
    if (lingering !== undefined) this.#draining.set(name, [...draining, lingering]);
    this.show(name);
    this.#afterDrain(uses, lingering, () => {
      const rest = (this.#draining.get(name) ?? []).filter((each) => each !== lingering);
      if (rest.length > 0) this.#draining.set(name, rest);
      else this.#draining.delete(name);
      if (rest.length > 0) this.show(name);
      else this.#options.store.drained('listener', name);
    });
  }

  /** The connections of chains that `later` has not. */
  drainChains(uses: readonly ResourceUse[], earlier: Version, later: Version): void {
    const gone = goneChains(earlier.message, later.message);
    const count = gone.length;
    const routes = earlier.resolved.inlineRoutes.filter(routesHolder(gone));
    this.#chains += count;
    this.#afterDrain(uses, new LingeringListener(earlier, routes), () => {
      this.#chains -= count;
    });
  }

  /** Shows a listener; the dump has the oldest of several versions. */
  show(name: string): void {
    const [oldest] = this.#draining.get(name) ?? [];
    if (oldest !== undefined) this.#options.store.drain('listener', name, oldest);
  }

  close(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #afterDrain(
    uses: readonly ResourceUse[],
    version: LingeringListener | undefined,
    done: () => void,
  ): void {
    const { clock, drainTimeMs, store, counted } = this.#options;
    counted();
    if (version !== undefined) store.linger(version);
    const timer = clock.after(drainTimeMs, () => {
      this.#timers.delete(timer);
      for (const use of uses) use.release();
      if (version !== undefined) store.endLingering(version);
      done();
      counted();
    });
    this.#timers.add(timer);
  }
}
