/**
 * What one connection of a client of Redis adds to the figures of its cluster and host: of the
 * Redis proxy, and of checks, which may open it again. Bytes and times are not counted.
 */
import type { CheckStats } from '../../health/check-target.ts';
import { CLUSTER, HOST } from '../../../shared/stats/templates/cluster.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import type { ClosingSide } from '../pools/connection-account.ts';
import type { UpstreamHost } from './host.ts';

const { index } = CLUSTER;

export class RedisAccount implements CheckStats {
  readonly #writer: StatWriter;
  readonly #base: number;
  readonly #host: UpstreamHost;
  #isConnected = false;
  /** Commands without an answer. */
  #open = 0;

  /** `base` is that of the cluster. */
  constructor(writer: StatWriter, base: number, host: UpstreamHost) {
    this.#writer = writer;
    this.#base = base;
    this.#host = host;
  }

  opened(): void {
    const { statBase, retained } = this.#host;
    retained.hold();
    this.#isConnected = false;
    this.#count(index.upstream_cx_total);
    this.#writer.add(this.#base + index.upstream_cx_active, 1);
    this.#writer.increment(statBase + HOST.index.cx_total);
    this.#writer.add(statBase + HOST.index.cx_active, 1);
  }

  connected(): void {
    this.#isConnected = true;
  }

  asked(): void {
    this.#open++;
    this.#count(index.upstream_rq_total);
    this.#writer.add(this.#base + index.upstream_rq_active, 1);
    this.#host.requestBegan();
  }

  answered(): void {
    this.#open--;
    this.#writer.subtract(this.#base + index.upstream_rq_active, 1);
    this.#host.requestEnded();
  }

  /** Nobody waits for an answer any more. */
  cancelled(): void {
    if (this.#open > 0) this.#count(index.upstream_rq_cancelled);
  }

  /** No answer came in time. */
  timedOut(): void {
    this.#count(this.#isConnected ? index.upstream_rq_timeout : index.upstream_cx_connect_timeout);
    const { rq_timeout: unanswered, cx_connect_fail: unconnected } = HOST.index;
    this.#writer.increment(this.#host.statBase + (this.#isConnected ? unanswered : unconnected));
  }

  brokeProtocol(): void {
    this.#count(index.upstream_cx_protocol_error);
    this.#writer.increment(this.#host.statBase + HOST.index.rq_error);
  }

  redirected(hasSucceeded: boolean): void {
    this.#count(
      hasSucceeded
        ? index.upstream_internal_redirect_succeeded_total
        : index.upstream_internal_redirect_failed_total,
    );
  }

  closed(how: ClosingSide): void {
    const { statBase, retained } = this.#host;
    const isLocal = how === 'local';
    if (!this.#isConnected && !isLocal) {
      this.#count(index.upstream_cx_connect_fail);
      this.#writer.increment(statBase + HOST.index.cx_connect_fail);
    }
    this.#count(index.upstream_cx_destroy);
    this.#count(isLocal ? index.upstream_cx_destroy_local : index.upstream_cx_destroy_remote);
    if (this.#open > 0) {
      this.#count(index.upstream_cx_destroy_with_active_rq);
      this.#count(
        isLocal
          ? index.upstream_cx_destroy_local_with_active_rq
          : index.upstream_cx_destroy_remote_with_active_rq,
      );
      while (this.#open > 0) this.answered();
    }
    this.#writer.subtract(this.#base + index.upstream_cx_active, 1);
    this.#writer.subtract(statBase + HOST.index.cx_active, 1);
    retained.letGo();
  }

  #count(offset: number): void {
    this.#writer.increment(this.#base + offset);
  }
}
