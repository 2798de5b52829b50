/**
 * Sends statsd lines over one TCP connection to a host of a cluster, which is opened when there is
 * something to send and opened again after a failure. A flush that the peer does not take in is
 * dropped whole once too much waits.
 */
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FlushSnapshot } from './flush-snapshot.ts';
import { statsdLines, type LineOptions } from './statsd-lines.ts';
import type { SocketAddress } from '../../stats/sink-config.ts';
import type { StatsSink } from './stats-sink.ts';

/** Bytes that may wait to be sent before flushes are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const CHUNK_LENGTH = 16 * 1024;

export interface TcpStatsdOptions extends LineOptions {
  /** A host to connect to; undefined while the cluster has none. */
  hostOf(): SocketAddress | undefined;
}

export class TcpStatsdSink implements StatsSink {
  readonly #options: TcpStatsdOptions;
  #socket: Socket | undefined;

  constructor(options: TcpStatsdOptions) {
    this.#options = options;
  }

  async flush(snapshot: FlushSnapshot): Promise<void> {
    const socket = this.#open();
    if (socket === undefined) throw new Error('cannot send statistics: the cluster has no host');
    if (socket.writableLength > MAX_WAITING_BYTES) {
      throw new Error('cannot send statistics: the receiver does not take in the flushes before');
    }
    let chunk = '';
    for (const line of statsdLines(snapshot, this.#options)) {
      chunk += `${line}\n`;
      if (chunk.length < CHUNK_LENGTH) continue;
      socket.write(chunk);
      chunk = '';
      await setImmediate();
    }
    if (chunk !== '') socket.write(chunk);
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Socket | undefined {
    if (this.#socket !== undefined && !this.#socket.destroyed) return this.#socket;
    const host = this.#options.hostOf();
    if (host === undefined) return undefined;
    const socket = connect({ host: host.address, port: host.port, noDelay: true });
    socket.unref();
    // The next flush connects again; what waited is lost.
    socket.on('error', () => socket.destroy());
    socket.resume();
    this.#socket = socket;
    return socket;
  }
}
