/**
 * What the supervisor's own requests count below `cluster.<name>.`: those that traffic counts there
 * too. One for each cluster; it opens nothing and decides nothing.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../../shared/process/clock.ts';
import { ResponseCodeStats } from '../../shared/stats/response-code-stats.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { CLUSTER } from '../../shared/stats/templates/cluster.ts';
import { HTTP1_CODEC } from '../../shared/stats/templates/codecs.ts';
import { ROUTER } from '../../shared/stats/templates/http-connection-manager.ts';

export type OwnProtocol = 'h2' | 'http/1.1';

/** A request from the moment that it is asked for; each word counts once. */
export interface OwnRequest {
  /** It has a connection. */
  sent(): void;
  answered(status: number): void;
  /** It is over by an answer. */
  ended(): void;
  /** It is over without the end of one. */
  failed(reason: 'timeout' | 'connection'): void;
  /** This side ends what the other side has not taken whole. */
  reset(): void;
}

/** A connection from the moment that it is begun. */
export interface OwnConnection {
  /** It stands; from now on it is watched. `isBusy`: a request is on it. */
  connected(socket: Socket, isBusy: () => boolean): void;
  /** It never stood. */
  failed(): void;
  /** This side gives it up with what is on it, before it is closed. */
  broken(): void;
}

type Counter = keyof typeof CLUSTER.index;

/** How many bytes of a connection were counted. */
interface Counted {
  read: number;
  written: number;
}

const HTTP1 = [
  'upstream_cx_total',
  'upstream_cx_http1_total',
  'upstream_rq_pending_total',
] as const;
const HTTP2 = [
  'upstream_cx_total',
  'upstream_cx_http2_total',
  'upstream_rq_pending_total',
] as const;

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
    // They count as requests from inside, as in Envoy.
    const views = [this.#prefix, `${this.#prefix}internal.`];
    this.#codes = views.map((prefix) => new ResponseCodeStats(writer, prefix));
  }

  request(): OwnRequest {
    this.#countRouter('rq_total');
    const startedMs = this.#clock.monotonicMs();
    let isSent = false;
    let isAnswered = false;
    const over = (): void => {
      this.countBytes();
      if (isSent) this.#gauge('upstream_rq_active', -1);
    };
    return {
      sent: () => {
        if (isSent) return;
        isSent = true;
        this.#count('upstream_rq_total');
        this.#gauge('upstream_rq_active', 1);
      },
      answered: (status) => {
        if (isAnswered) return;
        isAnswered = true;
        for (const codes of this.#codes) {
          codes.charge(status);
          codes.recordTime(this.#clock.monotonicMs() - startedMs);
        }
      },
      ended: over,
      failed: (reason) => {
        over();
        const isLate = reason === 'timeout';
        this.#count(isLate ? 'upstream_rq_timeout' : 'upstream_rq_pending_failure_eject');
        if (!isAnswered) {
          for (const codes of this.#codes) codes.charge(isLate ? 504 : 503);
        } else if (!isLate) {
          this.#countRouter('rq_reset_after_downstream_response_started');
        }
      },
      reset: () => {
        over();
        this.#count('upstream_rq_tx_reset');
      },
    };
  }

  connection(protocol: OwnProtocol): OwnConnection {
    const startedMs = this.#clock.monotonicMs();
    this.#count(...(protocol === 'h2' ? HTTP2 : HTTP1));
    if (protocol === 'http/1.1') this.#writer.defineBlock(HTTP1_CODEC, `${this.#prefix}http1.`);
    this.#gauge('upstream_cx_active', 1);
    let broken: (() => void) | undefined;
    return {
      connected: (socket, isBusy) => {
        this.#open.set(socket, { read: 0, written: 0 });
        this.#record('upstream_cx_connect_ms', this.#clock.monotonicMs() - startedMs);
        broken = this.#watch(socket, isBusy);
      },
      broken: () => broken?.(),
      failed: () => {
        this.#count(
          'upstream_cx_connect_fail',
          'upstream_cx_destroy',
          'upstream_cx_destroy_remote',
        );
        this.#gauge('upstream_cx_active', -1);
      },
    };
  }

  /** What went over connections that are open, as far as it was not counted. */
  countBytes(): void {
    for (const [{ bytesRead, bytesWritten }, counted] of this.#open) {
      this.#add('upstream_cx_rx_bytes_total', bytesRead - counted.read);
      this.#add('upstream_cx_tx_bytes_total', bytesWritten - counted.written);
      counted.read = bytesRead;
      counted.written = bytesWritten;
    }
  }

  /** Returns what says that this side gives it up. */
  #watch(socket: Socket, isBusy: () => boolean): () => void {
    let end: { readonly side: 'local' | 'remote'; readonly wasBusy: boolean } | undefined;
    // The first word counts: requests are told of the end before the socket is closed.
    const ends = (side: 'local' | 'remote', wasBusy: boolean): void => {
      end ??= { side, wasBusy };
    };
    socket.once('end', () => ends('remote', isBusy()));
    socket.once('error', ({ syscall }: NodeJS.ErrnoException) => {
      ends(syscall === undefined ? 'local' : 'remote', isBusy());
    });
    socket.once('close', () => {
      this.countBytes();
      this.#open.delete(socket);
      this.#gauge('upstream_cx_active', -1);
      const { side, wasBusy } = end ?? { side: 'local', wasBusy: isBusy() };
      this.#count('upstream_cx_destroy', `upstream_cx_destroy_${side}`);
      if (!wasBusy) return;
      this.#count('upstream_cx_destroy_with_active_rq');
      this.#count(`upstream_cx_destroy_${side}_with_active_rq`);
    });
    return () => ends('local', true);
  }

  #countRouter(counter: keyof typeof ROUTER.index): void {
    const router = this.#writer.defineBlock(ROUTER, 'http.async-client.');
    this.#writer.increment(router + ROUTER.index[counter]);
    this.#writer.releaseBlock(router);
  }

  #count(...counters: readonly Counter[]): void {
    for (const counter of counters) this.#add(counter, 1);
  }

  #add(counter: Counter, amount: number): void {
    if (amount > 0) this.#change((base) => this.#writer.add(base + CLUSTER.index[counter], amount));
  }

  #gauge(gauge: Counter, change: 1 | -1): void {
    this.#change((base) => {
      if (change > 0) this.#writer.add(base + CLUSTER.index[gauge], 1);
      else this.#writer.subtract(base + CLUSTER.index[gauge], 1);
    });
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
