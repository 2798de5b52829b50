/**
 * Statistics of loaded certificates that the supervisor keeps: when they expire, and how often
 * secrets renewed a TLS context.
 */
import { TLS, TLS_SOCKET_FACTORY } from '../../shared/stats/templates/tls.ts';
import { secretKeysOf } from '../../shared/tls/complete-tls.ts';
import {
  completeClusters,
  contextsOfCluster,
  contextsOfListener,
  contextsWith,
  factoriesOf,
  factoryOf,
  KnownExpirations,
  type OwnedContext,
  secretsOf,
} from './loaded-certificates.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import type { Definition, StatStore } from '../stats/stat-store.ts';

/**
 * Told when the first certificate of all expires, in Unix milliseconds; undefined: there is none.
 */
interface ExpirationView {
  setFirstExpiration(unixMs: number | undefined): void;
}

export class CertificateStats {
  readonly #store: ResourceStore;
  readonly #stats: StatStore;
  readonly #view: ExpirationView;
  readonly #expirations = new KnownExpirations();
  readonly #gauges = new Map<string, Definition>();
  /** Held blocks by prefix. */
  readonly #blocks = new Map<string, number>();

  /** Blocks of handshakes by their cluster: there from the last of its secrets on. */
  readonly #complete = new Map<string, Definition>();
  /** Versions of clusters and listeners that were counted. */
  readonly #seen = new WeakSet<object>();
  #isPublishPlanned = false;

  constructor(store: ResourceStore, stats: StatStore, view: ExpirationView) {
    this.#store = store;
    this.#stats = stats;
    this.#view = view;
    store.subscribe(({ kind, name }) => {
      if (kind === 'cluster') this.#clusterChanged(name);
      else if (kind === 'listener') this.#listenerChanged(name);
    });
  }

  /** Writes what is loaded now. */
  publish(): void {
    const stats = this.#stats;
    const present = this.#expirations.present(this.#store);
    for (const [name, seconds] of present) {
      const gauge = this.#gauges.get(name) ?? stats.holdNamed('gauge', name);
      this.#gauges.set(name, gauge);
      stats.setGauge(gauge.base, seconds);
    }
    this.#releaseOthers(present);
    this.#showComplete();
    const first = Math.min(...present.values());
    this.#view.setFirstExpiration(Number.isFinite(first) ? first * 1000 : undefined);
  }

  /** Contexts that use this secret were renewed. */
  secretChanged(key: string): void {
    for (const { owner, side } of contextsWith(key, this.#store)) {
      this.#countRenewal(factoryOf(owner, side));
    }
    this.publish();
  }

  #countRenewal(prefix: string): void {
    let base = this.#blocks.get(prefix);
    if (base === undefined) {
      base = this.#stats.defineBlock(TLS_SOCKET_FACTORY, prefix);
      this.#blocks.set(prefix, base);
    }
    this.#stats.increment(base + TLS_SOCKET_FACTORY.index.ssl_context_update_by_sds);
  }

  #clusterChanged(name: string): void {
    const { active, warming } = this.#store.get('cluster', name) ?? {};
    const version = warming ?? active;
    if (version === undefined || this.#seen.has(version.resolved)) this.#planPublish();
    else this.#countPresent(version.resolved, contextsOfCluster(version.resolved));
  }

  /**
   * Chains of a listener that is there already may stay what they are: only new listeners count.
   */
  #listenerChanged(name: string): void {
    const { active, warming } = this.#store.get('listener', name) ?? {};
    const version = warming ?? active;
    if (version === undefined || this.#seen.has(version.resolved)) this.#planPublish();
    else if (active === undefined || active === version) {
      this.#countPresent(version.resolved, contextsOfListener(version.resolved));
    } else this.#seen.add(version.resolved);
  }

  /** Each secret that is there already counts for a new context, as if it came now. */
  #countPresent(version: object, contexts: Iterable<OwnedContext>): void {
    this.#seen.add(version);
    const secretOf = secretsOf(this.#store);
    for (const { owner, side, context } of contexts) {
      for (const key of secretKeysOf(context)) {
        if (secretOf(key) === undefined) continue;
        this.#countRenewal(factoryOf(owner, side));
        this.#planPublish();
      }
    }
  }

  /** What comes together is looked at once; without secrets nothing of this changes. */
  #planPublish(): void {
    if (this.#isPublishPlanned || this.#blocks.size === 0) return;
    this.#isPublishPlanned = true;
    setImmediate(() => {
      this.#isPublishPlanned = false;
      this.publish();
    });
  }

  #showComplete(): void {
    const factories = factoriesOf(this.#store);
    for (const [prefix, base] of this.#blocks) {
      if (factories.has(prefix)) continue;
      this.#blocks.delete(prefix);
      this.#stats.releaseBlock(base);
    }
    const owners = completeClusters(this.#store);
    for (const owner of owners) {
      if (this.#complete.has(owner)) continue;
      this.#complete.set(owner, this.#stats.hold(TLS, `${owner}ssl.`));
    }
    for (const [owner, block] of this.#complete) {
      if (owners.has(owner)) continue;
      this.#complete.delete(owner);
      this.#stats.release(block);
    }
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
