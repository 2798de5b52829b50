/**
 * Circuit breakers: how much a cluster may have open at a time, per priority, over all workers. The
 * interface is what the router and the pools ask.
 */
import { limitOf, readThresholds } from '../../shared/limits/breaker-limits.ts';
import { BreakerPage, type LimitedResource } from '../../shared/limits/breaker-page.ts';
import type { CircuitBreakerThresholds } from '../../shared/resources/clusters/cluster.ts';
import type { RuntimeSnapshot } from '../../shared/resources/runtime.ts';
import type { Runtime } from '../loop/runtime.ts';

export interface ResourceLimits {
  /** True when one more may be opened: a look that promises nothing. */
  canOpen(resource: LimitedResource): boolean;
  /** Counts one more, even beyond the limit: the caller has a reason. */
  open(resource: LimitedResource): void;
  /** Counts one more when it may be opened; false when not. */
  tryOpen(resource: LimitedResource): boolean;
  close(resource: LimitedResource): void;
}

export interface SharedLimitsParts {
  readonly cluster: string;
  readonly priority: 'DEFAULT' | 'HIGH';
  readonly thresholds: CircuitBreakerThresholds;
  readonly runtime: Pick<Runtime, 'snapshot'>;
}

export class SharedLimits implements ResourceLimits {
  readonly #parts: SharedLimitsParts;
  #thresholds: CircuitBreakerThresholds;
  #snapshot: RuntimeSnapshot | undefined = undefined;
  #page = BreakerPage.single();
  #worker = 0;
  #slot = 0;
  /** What was marked as used in the page's slot. */
  readonly #used = new Set<LimitedResource>();

  constructor(parts: SharedLimitsParts) {
    this.#parts = parts;
    this.#thresholds = parts.thresholds;
  }

  /** Counts in this slot from now on; what is open now moves there. */
  bind(page: BreakerPage, worker: number, slot: number): void {
    for (const resource of this.#used) {
      page.markUsed(worker, slot, resource);
      page.add(worker, slot, resource, this.#page.countOf(this.#worker, this.#slot, resource));
    }
    if (page === this.#page) page.clear(this.#worker, this.#slot);
    this.#page = page;
    this.#worker = worker;
    this.#slot = slot;
  }

  canOpen(resource: LimitedResource): boolean {
    return this.#page.count(this.#slot, resource) < this.#limitOf(resource);
  }

  tryOpen(resource: LimitedResource): boolean {
    const limit = this.#limitOf(resource);
    this.#page.add(this.#worker, this.#slot, resource, 1);
    if (this.#page.count(this.#slot, resource) <= limit) {
      this.#markUsed(resource);
      return true;
    }
    this.close(resource);
    return false;
  }

  open(resource: LimitedResource): void {
    this.#markUsed(resource);
    this.#page.add(this.#worker, this.#slot, resource, 1);
  }

  close(resource: LimitedResource): void {
    this.#page.add(this.#worker, this.#slot, resource, -1);
  }

  #markUsed(resource: LimitedResource): void {
    if (this.#used.has(resource)) return;
    this.#used.add(resource);
    this.#page.markUsed(this.#worker, this.#slot, resource);
  }

  #limitOf(resource: LimitedResource): number {
    const { snapshot } = this.#parts.runtime;
    if (snapshot !== this.#snapshot) {
      this.#snapshot = snapshot;
      this.#thresholds = readThresholds(this.#parts.thresholds, this.#parts, snapshot);
    }
    return limitOf(this.#thresholds, resource, { page: this.#page, slot: this.#slot });
  }
}
