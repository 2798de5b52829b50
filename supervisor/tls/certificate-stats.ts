/**
 * Statistics of loaded certificates that the supervisor keeps: when they expire, and how often secrets
 * renewed a TLS context.
 */
import { TLS_SOCKET_FACTORY } from '../../shared/stats/templates/tls.ts';
import { contextsWith, expirations } from './loaded-certificates.ts';
import type { ResourceStore } from '../resources/resource-store.ts';
import type { Definition, StatStore } from '../stats/stat-store.ts';

/** Told when the first certificate of all expires, in Unix milliseconds; undefined: there is none. */
interface ExpirationView {
  setFirstExpiration(unixMs: number | undefined): void;
}

export class CertificateStats {
  readonly #store: ResourceStore;
  readonly #stats: StatStore;
  readonly #view: ExpirationView;
  readonly #gauges = new Map<string, Definition>();
  /** Held blocks by prefix. */
  readonly #blocks = new Map<string, number>();

  constructor(store: ResourceStore, stats: StatStore, view: ExpirationView) {
    this.#store = store;
    this.#stats = stats;
    this.#view = view;
  }

  /** Writes what is loaded now. */
  publish(): void {
    const stats = this.#stats;
    const present = expirations(this.#store);
    for (const [name, seconds] of present) {
      const gauge = this.#gauges.get(name) ?? stats.holdNamed('gauge', name);
      this.#gauges.set(name, gauge);
      stats.setGauge(gauge.base, seconds);
    }
    this.#releaseOthers(present);
    const first = Math.min(...present.values());
    this.#view.setFirstExpiration(Number.isFinite(first) ? first * 1000 : undefined);
  }

  /** Contexts that use this secret were renewed. */
  secretChanged(key: string): void {
    const stats = this.#stats;
    for (const { owner, side } of contextsWith(key, this.#store)) {
      const prefix = `${owner}${side}_ssl_socket_factory.`;
      let base = this.#blocks.get(prefix);
      if (base === undefined) {
        base = stats.defineBlock(TLS_SOCKET_FACTORY, prefix);
        this.#blocks.set(prefix, base);
      }
      stats.increment(base + TLS_SOCKET_FACTORY.index.ssl_context_update_by_sds);
    }
    this.publish();
  }

  /** Gauges of certificates that no version in force has any more. */
  #releaseOthers(present: ReadonlyMap<string, number>): void {
    for (const [name, gauge] of this.#gauges) {
      if (present.has(name)) continue;
      this.#gauges.delete(name);
      this.#stats.release(gauge);
    }
  }
}
