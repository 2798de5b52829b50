/**
 * The requests that wait for a connection to one host: in their order, within the cluster's limit,
 * with what is counted of them. Which connection serves them is the pool's decision.
 */
import { CLUSTER, HOST } from '../../../shared/stats/templates/cluster.ts';
import { type Member, Members } from '../../loop/members.ts';
import type { ResetReason } from '../../stream/codec.ts';
import type { UpstreamCluster } from '../cluster.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { ResourceLimits } from '../resource-limits.ts';

const { index } = CLUSTER;
const HOST_RQ_PENDING_ACTIVE = HOST.index.rq_pending_active;

/** A request that needs a connection. */
export interface PoolWaiter<Self> extends Member<Self> {
  /**
   * `detail` is the operating system's word, empty when there is none. `triedHost` is false when a
   * limit refused the request before the host was involved.
   */
  onPoolFailure(reason: ResetReason, detail: string, triedHost: boolean): void;
}

export class RequestQueue<Waiter extends PoolWaiter<Waiter>> {
  readonly #cluster: UpstreamCluster;
  readonly #host: UpstreamHost;
  readonly #limits: ResourceLimits;
  readonly #waiting = new Members<Waiter>();

  constructor(cluster: UpstreamCluster, host: UpstreamHost, limits: ResourceLimits) {
    this.#cluster = cluster;
    this.#host = host;
    this.#limits = limits;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** False when no more requests may wait; the waiter is not told. */
  add(waiter: Waiter): boolean {
    const { writer, base } = this.#cluster.stats;
    if (!this.#limits.tryOpen('pendingRequests')) {
      writer.increment(base + index.upstream_rq_pending_overflow);
      return false;
    }
    writer.increment(base + index.upstream_rq_pending_total);
    writer.add(base + index.upstream_rq_pending_active, 1);
    writer.add(this.#host.statBase + HOST_RQ_PENDING_ACTIVE, 1);
    this.#waiting.add(waiter);
    return true;
  }

  /** The request that has waited longest; it waits no longer. */
  shift(): Waiter | undefined {
    const waiter = this.#waiting.first;
    if (waiter !== undefined) this.#remove(waiter);
    return waiter;
  }

  /** Its sender takes a request back; false when it does not wait. */
  cancel(waiter: Waiter): boolean {
    if (!this.#remove(waiter)) return false;
    const { writer, base } = this.#cluster.stats;
    writer.increment(base + index.upstream_rq_cancelled);
    return true;
  }

  /** Fails what waits now; a request that comes back at once as another attempt waits again. */
  failAll(reason: ResetReason, detail: string): void {
    const { writer, base } = this.#cluster.stats;
    for (const waiter of this.#waiting.all()) {
      this.#remove(waiter);
      writer.increment(base + index.upstream_rq_pending_failure_eject);
      waiter.onPoolFailure(reason, detail, true);
    }
  }

  #remove(waiter: Waiter): boolean {
    if (!this.#waiting.remove(waiter)) return false;
    const { writer, base } = this.#cluster.stats;
    writer.subtract(base + index.upstream_rq_pending_active, 1);
    writer.subtract(this.#host.statBase + HOST_RQ_PENDING_ACTIVE, 1);
    this.#limits.close('pendingRequests');
    return true;
  }
}
