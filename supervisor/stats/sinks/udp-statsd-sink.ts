/** Sends statsd lines over UDP. Nobody answers; what is lost is lost. */
import { createSocket, type Socket } from 'node:dgram';
import { setImmediate } from 'node:timers/promises';
import type { FlushSnapshot } from './flush-snapshot.ts';
import { statsdLines, type NameForm } from './statsd-lines.ts';
import type { SocketAddress, StatsSink } from './stats-sink.ts';

/** Datagrams sent between two turns of the event loop. */
const YIELD_AFTER = 128;

export interface UdpStatsdOptions {
  readonly target: SocketAddress;
  readonly form: NameForm;
  /** Lines are joined up to this size; 0: one line per datagram. */
  readonly maxBytes: number;
}

export class UdpStatsdSink implements StatsSink {
  readonly #options: UdpStatsdOptions;
  #socket: Socket | undefined;

  constructor(options: UdpStatsdOptions) {
    this.#options = options;
  }

  async flush(snapshot: FlushSnapshot): Promise<void> {
    const socket = this.#open();
    const { address, port } = this.#options.target;
    let sent = 0;
    for (const datagram of this.#datagrams(snapshot)) {
      socket.send(datagram, port, address);
      if (++sent % YIELD_AFTER === 0) await setImmediate();
    }
  }

  close(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  #open(): Socket {
    if (this.#socket !== undefined) return this.#socket;
    const socket = createSocket(this.#options.target.address.includes(':') ? 'udp6' : 'udp4');
    // A receiver that is not there answers by ICMP, which becomes an error of the socket.
    socket.on('error', () => {
      if (this.#socket === socket) this.#socket = undefined;
      socket.close();
    });
    socket.unref();
    this.#socket = socket;
    return socket;
  }

  *#datagrams(snapshot: FlushSnapshot): Generator<string> {
    const { form, maxBytes } = this.#options;
    let datagram = '';
    for (const line of statsdLines(snapshot, form)) {
      if (datagram !== '' && Buffer.byteLength(datagram) + 1 + Buffer.byteLength(line) > maxBytes) {
        yield datagram;
        datagram = '';
      }
      datagram = datagram === '' ? line : `${datagram}\n${line}`;
    }
    if (datagram !== '') yield datagram;
  }
}
