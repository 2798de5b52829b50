/**
 * What the supervisor's own requests count below `cluster.<name>.`: those that traffic counts there too.
 * One for each cluster; it opens nothing and decides nothing.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../../../shared/clock.ts';
import { ResponseCodeStats } from '../../../shared/stats/response-code-stats.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import { HTTP1_CODEC } from '../../../shared/stats/templates/codecs.ts';
import { ROUTER } from '../../../shared/stats/templates/http-connection-manager.ts';

/** What came of a request. */
export type Outcome = { readonly status: number } | { readonly failed: 'timeout' | 'connection' };

type Counter = keyof typeof CLUSTER.index;

/** How many bytes of a connection were counted. */
interface Counted {
  read: number;
  written: number;
}

export class OwnRequestStats {
  readonly #writer: StatWriter;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #codes: readonly ResponseCodeStats[];
  readonly #open = new Map<Socket, Counted>();

  constructor(writer: StatWriter, clock: Clock, statName: string) {
    this.#writer = writer;
    this.#clock = clock;
    this.#prefix = `cluster.${statName}.`;
    // They count as requests from inside, as in the reference.
    const views = [this.#prefix, `${this.#prefix}internal.`];
    this.#codes = views.map((prefix) => new ResponseCodeStats(writer, prefix));
  }

  requested(): void {
    this.#change((base) => this.#writer.increment(base + CLUSTER.index.upstream_rq_total));
  }

  /** A connection is made that nobody here sees. */
  connects(protocol: 'h2' | 'http/1.1'): void {
    this.#count('upstream_cx_total');
    if (protocol === 'http/1.1') {
      this.#count('upstream_cx_http1_total');
      this.#count('upstream_rq_pending_total');
      this.#writer.defineBlock(HTTP1_CODEC, `${this.#prefix}http1.`);
    } else {
      this.#count('upstream_cx_http2_total');
    }
  }

  /** A connection is being made. */
  connecting(socket: Socket, protocol: 'h2' | 'http/1.1'): void {
    const startedMs = this.#clock.monotonicMs();
    this.connects(protocol);
    this.#open.set(socket, { read: 0, written: 0 });
    this.#change((base) => this.#writer.add(base + CLUSTER.index.upstream_cx_active, 1));
    let isConnected = false;
    socket.once('connect', () => {
      isConnected = true;
      const tookMs = this.#clock.monotonicMs() - startedMs;
      this.#record('upstream_cx_connect_ms', tookMs);
    });
    socket.once('close', () => {
      this.#countBytes();
      this.#open.delete(socket);
      this.#change((base) => this.#writer.subtract(base + CLUSTER.index.upstream_cx_active, 1));
      if (isConnected) this.#count('upstream_cx_destroy');
      else this.#count('upstream_cx_connect_fail');
    });
  }

  /** A request by REST is over. */
  ended(outcome: Outcome, startedMs: number): void {
    this.#countBytes();
    const router = this.#writer.defineBlock(ROUTER, 'http.async-client.');
    this.#writer.increment(router + ROUTER.index.rq_total);
    this.#writer.releaseBlock(router);
    if ('failed' in outcome) {
      const isLate = outcome.failed === 'timeout';
      this.#count(isLate ? 'upstream_rq_timeout' : 'upstream_rq_pending_failure_eject');
      for (const codes of this.#codes) codes.charge(isLate ? 504 : 503);
      return;
    }
    for (const codes of this.#codes) {
      codes.charge(outcome.status);
      codes.recordTime(this.#clock.monotonicMs() - startedMs);
    }
  }

  #countBytes(): void {
    for (const [{ bytesRead, bytesWritten }, counted] of this.#open) {
      this.#add('upstream_cx_rx_bytes_total', bytesRead - counted.read);
      this.#add('upstream_cx_tx_bytes_total', bytesWritten - counted.written);
      counted.read = bytesRead;
      counted.written = bytesWritten;
    }
  }

  #count(counter: Counter): void {
    this.#add(counter, 1);
  }

  #add(counter: Counter, amount: number): void {
    if (amount > 0) this.#change((base) => this.#writer.add(base + CLUSTER.index[counter], amount));
  }

  #record(histogram: Counter, value: number): void {
    this.#change((base) => this.#writer.record(base + CLUSTER.index[histogram], value));
  }

  /** The block is the cluster's own. */
  #change(change: (base: number) => void): void {
    const base = this.#writer.defineBlock(CLUSTER, this.#prefix);
    change(base);
    this.#writer.releaseBlock(base);
  }
}
