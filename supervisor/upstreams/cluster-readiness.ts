/**
 * When a cluster may be used for the first time: with its hosts, what it needs beside them, and
 * checks.
 */
import type { ResourceUse } from '../store/resource-use.ts';

export interface ClusterReadinessOptions {
  /** What the cluster cannot be used without, beside its hosts. */
  readonly needs: readonly ResourceUse[];
  /** Some host's first check has not ended. */
  areChecksUnderWay(): boolean;
  /** It waits for nothing but checks; called until it waits for these no more either. */
  usable(): void;
}

export class ClusterReadiness {
  readonly #options: ClusterReadinessOptions;
  /**
   * Resolves when the first hosts are there and were checked, or when it is known that there are
   * none.
   */
  readonly ready: Promise<void>;
  /**
   * Resolves earlier than `ready`: when the first hosts are there, whether they were checked or
   * not.
   */
  readonly hasHosts: Promise<void>;
  #resolveReady: (() => void) | undefined;
  #resolveHasHosts: (() => void) | undefined;
  #isInitialized = false;
  #isReady = false;

  constructor(options: ClusterReadinessOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#resolveReady = resolve;
    });
    this.hasHosts = new Promise((resolve) => {
      this.#resolveHasHosts = resolve;
    });
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** It waits for nothing but the first checks of its hosts. */
  get isChecking(): boolean {
    return this.#isUsable() && !this.#isReady;
  }

  /** Once, when the cluster has its first hosts. */
  watchNeeds(): void {
    for (const { ready } of this.#options.needs) void ready.then(() => this.check());
  }

  /** The source of its hosts has said what it had to say first. */
  initialized(): void {
    this.#isInitialized = true;
    this.check();
  }

  /** Something that it may have waited for has come. */
  check(): void {
    if (this.#isReady || !this.#isUsable()) return;
    this.#options.usable();
    this.#resolveHasHosts?.();
    if (!this.#options.areChecksUnderWay()) this.#becomeReady();
  }

  /** The cluster is gone; nobody has to wait for it any more. */
  close(): void {
    for (const need of this.#options.needs) need.release();
    this.#becomeReady();
  }

  /** But for checks. */
  #isUsable(): boolean {
    return this.#isInitialized && this.#options.needs.every((need) => need.isReady());
  }

  #becomeReady(): void {
    this.#isReady = true;
    this.#resolveReady?.();
  }
}
