/** Counts the admin listener's own connections and requests under Envoy's names. */
import type { Socket } from 'node:net';
import type { Clock } from '../../../shared/process/clock.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { HTTP1_CODEC, HTTP2_CODEC } from '../../../shared/stats/templates/codecs.ts';
import {
  HTTP_CONNECTION_MANAGER,
  LISTENER_HTTP,
} from '../../../shared/stats/templates/http-connection-manager.ts';
import { LISTENER, LISTENER_WORKER } from '../../../shared/stats/templates/listener.ts';
import type { AdminProtocol } from './exchange.ts';

const HTTP = HTTP_CONNECTION_MANAGER.index;
const CLASSES = [
  'downstream_rq_1xx',
  'downstream_rq_2xx',
  'downstream_rq_3xx',
  'downstream_rq_4xx',
  'downstream_rq_5xx',
] as const;

/** The statistics of each version of HTTP. */
const VERSIONS = {
  'HTTP/1.1': {
    active: 'downstream_cx_http1_active',
    connections: 'downstream_cx_http1_total',
    requests: 'downstream_rq_http1_total',
  },
  'HTTP/2': {
    active: 'downstream_cx_http2_active',
    connections: 'downstream_cx_http2_total',
    requests: 'downstream_rq_http2_total',
  },
} as const;

export interface CountedConnection {
  /** Its first bytes came. */
  speaks(protocol: AdminProtocol): void;
  closed(): void;
}

export interface CountedRequest {
  /** Counts the answer's status before its body is made, so that a page counts itself. */
  answers(status: number): void;
  /** The answer was sent, or the client is gone (status 0). */
  ended(status: number): void;
}

/** The admin listener's statistics; one object for all its addresses. */
export class AdminStats {
  readonly #writer: StatWriter;
  readonly #clock: Clock;
  readonly #http: number;
  /** Defined with the first connection that needs it. */
  #http2: number | undefined;
  readonly #listener: number;
  readonly #listenerHttp: number;
  /** Gauges of open connections, and counters of all connections. */
  readonly #active: readonly number[];
  readonly #opened: readonly number[];
  readonly #counted = new WeakMap<Socket, { read: number; written: number }>();

  constructor(writer: StatWriter, clock: Clock) {
    this.#writer = writer;
    this.#clock = clock;
    this.#http = writer.defineBlock(HTTP_CONNECTION_MANAGER, 'http.admin.');
    this.#listener = writer.defineBlock(LISTENER, 'listener.admin.');
    this.#listenerHttp = writer.defineBlock(LISTENER_HTTP, 'listener.admin.http.admin.');
    writer.defineBlock(HTTP1_CODEC, 'http1.');
    const mainThread = writer.defineBlock(LISTENER_WORKER, 'listener.admin.main_thread.');
    this.#active = [
      this.#http + HTTP.downstream_cx_active,
      this.#listener + LISTENER.index.downstream_cx_active,
      mainThread + LISTENER_WORKER.index.downstream_cx_active,
    ];
    this.#opened = [
      this.#http + HTTP.downstream_cx_total,
      this.#listener + LISTENER.index.downstream_cx_total,
      mainThread + LISTENER_WORKER.index.downstream_cx_total,
    ];
  }

  connectionOpened(socket: Socket): CountedConnection {
    const openedMs = this.#clock.monotonicMs();
    let endedByClient = false;
    socket.once('end', () => {
      endedByClient = true;
    });
    for (const index of [...this.#active, ...this.#opened]) this.#writer.add(index, 1);
    this.#writer.record(this.#listener + LISTENER.index.connections_accepted_per_socket_event, 1);
    // Nothing holds a connection back, and the gauge counts as used from here on.
    this.#writer.add(this.#listener + LISTENER.index.downstream_pre_cx_active, 0);
    let version: (typeof VERSIONS)[AdminProtocol] | undefined;
    return {
      speaks: (protocol) => {
        version = VERSIONS[protocol];
        this.#writer.add(this.#http + HTTP[version.active], 1);
        this.#writer.increment(this.#http + HTTP[version.connections]);
        if (protocol === 'HTTP/2') this.#countHttp2();
      },
      closed: () => {
        if (version !== undefined) this.#writer.subtract(this.#http + HTTP[version.active], 1);
        // The runtime's HTTP/2 takes the end of the client's bytes for itself.
        const byClient = endedByClient || version === VERSIONS['HTTP/2'];
        this.#connectionClosed(socket, openedMs, byClient);
      },
    };
  }

  requestBegun(socket: Socket, protocol: AdminProtocol): CountedRequest {
    const begunMs = this.#clock.monotonicMs();
    this.#writer.increment(this.#http + HTTP.downstream_rq_total);
    this.#writer.increment(this.#http + HTTP[VERSIONS[protocol].requests]);
    this.#writer.add(this.#http + HTTP.downstream_rq_active, 1);
    this.#countBytes(socket);
    let isCounted = false;
    const answers = (status: number): void => {
      if (!isCounted) this.#countStatus(status);
      isCounted = true;
    };
    return {
      answers,
      ended: (status) => {
        const timeMs = Math.round(this.#clock.monotonicMs() - begunMs);
        this.#writer.subtract(this.#http + HTTP.downstream_rq_active, 1);
        this.#writer.record(this.#http + HTTP.downstream_rq_time, timeMs);
        answers(status);
        this.#countBytes(socket);
      },
    };
  }

  /** Something that was no request got this status. */
  refused(status: number): void {
    this.#writer.increment(this.#http + HTTP.downstream_cx_protocol_error);
    this.#countStatus(status);
  }

  // These two are defined on first use: statistics of our own appear only once they are not zero.

  /** A client was closed because it did not take its answer. */
  stalledReaderClosed(): void {
    this.#writer.increment(this.#writer.defineCounter('sluice.admin.stalled_readers_closed'));
  }

  /** An idle connection was closed because others came. */
  idleClosed(): void {
    this.#writer.increment(this.#writer.defineCounter('sluice.admin.idle_closed_for_others'));
  }

  /** A connection or a large page was refused because there are too many. */
  overLimit(): void {
    this.#writer.increment(this.#writer.defineCounter('sluice.admin.refused_over_limit'));
  }

  #countHttp2(): void {
    this.#http2 ??= this.#writer.defineBlock(HTTP2_CODEC, 'http2.');
    this.#writer.increment(this.#http2 + HTTP2_CODEC.index.nghttp2_downstream_connections);
  }

  #connectionClosed(socket: Socket, openedMs: number, endedByClient: boolean): void {
    const lengthMs = Math.round(this.#clock.monotonicMs() - openedMs);
    const side = endedByClient ? 'downstream_cx_destroy_remote' : 'downstream_cx_destroy_local';
    this.#countBytes(socket);
    for (const index of this.#active) this.#writer.subtract(index, 1);
    this.#writer.increment(this.#http + HTTP.downstream_cx_destroy);
    this.#writer.increment(this.#http + HTTP[side]);
    this.#writer.increment(this.#listener + LISTENER.index.downstream_cx_destroy);
    this.#writer.record(this.#http + HTTP.downstream_cx_length_ms, lengthMs);
    this.#writer.record(this.#listener + LISTENER.index.downstream_cx_length_ms, lengthMs);
  }

  #countBytes(socket: Socket): void {
    const before = this.#counted.get(socket) ?? { read: 0, written: 0 };
    const now = { read: socket.bytesRead, written: socket.bytesWritten };
    this.#counted.set(socket, now);
    this.#writer.add(this.#http + HTTP.downstream_cx_rx_bytes_total, now.read - before.read);
    this.#writer.add(this.#http + HTTP.downstream_cx_rx_bytes_buffered, 0);
    this.#writer.add(this.#http + HTTP.downstream_cx_tx_bytes_total, now.written - before.written);
  }

  #countStatus(status: number): void {
    const name = CLASSES[Math.floor(status / 100) - 1];
    if (name === undefined) return;
    this.#writer.increment(this.#http + HTTP[name]);
    this.#writer.increment(this.#http + HTTP.downstream_rq_completed);
    this.#writer.increment(this.#listenerHttp + LISTENER_HTTP.index[name]);
    this.#writer.increment(this.#listenerHttp + LISTENER_HTTP.index.downstream_rq_completed);
  }
}
