/**
 * What checks by a client of Redis add to the figures of their cluster and host: its connections
 * and commands count.
 */
import type { CheckStats } from '../../health/check-target.ts';
import { CLUSTER, HOST } from '../../../shared/stats/templates/cluster.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import type { ClosingSide } from '../pools/connection-account.ts';
import type { UpstreamHost } from './host.ts';

const { index } = CLUSTER;

export class RedisCheckStats implements CheckStats {
  readonly #writer: StatWriter;
  readonly #base: number;
  readonly #host: UpstreamHost;
  #isConnected = false;
  #isBusy = false;

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
    this.#isBusy = true;
    this.#count(index.upstream_rq_total);
    this.#writer.add(this.#base + index.upstream_rq_active, 1);
    this.#host.requestBegan();
  }

  answered(): void {
    this.#isBusy = false;
    this.#writer.subtract(this.#base + index.upstream_rq_active, 1);
    this.#host.requestEnded();
  }

  /** This side gives up what it asked for. */
  cancelled(): void {
    if (this.#isBusy) this.#count(index.upstream_rq_cancelled);
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
    if (this.#isBusy) {
      this.#count(index.upstream_cx_destroy_with_active_rq);
      this.#count(
        isLocal
          ? index.upstream_cx_destroy_local_with_active_rq
          : index.upstream_cx_destroy_remote_with_active_rq,
      );
      this.answered();
    }
    this.#writer.subtract(this.#base + index.upstream_cx_active, 1);
    this.#writer.subtract(statBase + HOST.index.cx_active, 1);
    retained.letGo();
  }

  #count(offset: number): void {
    this.#writer.increment(this.#base + offset);
  }
}
