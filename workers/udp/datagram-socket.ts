/**
 * One socket of datagrams: the adopted one of a listener, or one that is connected to a host. What
 * arrives is handed on within the worker's loop; what cannot be sent is told once for each datagram.
 */
import dgram from 'node:dgram';
import { isIPv6 } from '../../shared/addresses/ip-text.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';

/** Bytes that the runtime may keep for a kernel that takes none; more is dropped. */
const SEND_QUEUE_BYTES_MAX = 1024 * 1024;
/** Datagrams for a host whose socket is not connected yet. */
const UNCONNECTED_MAX = 64;

export interface DatagramHandler {
  onDatagram(data: Buffer, ip: string, port: number): void;
  /** Nothing could be received: the other side refuses datagrams. */
  onReceiveError(): void;
  onSendError(): void;
  onException(): void;
}

export class DatagramSocket {
  readonly #socket: dgram.Socket;
  readonly #loop: WorkerLoop;
  readonly #handler: DatagramHandler;
  /** Undefined once datagrams can be sent. */
  #waiting: Buffer[] | undefined = undefined;
  #isClosed = false;
  /** Its host cannot be reached from here. */
  #isLost = false;

  private constructor(ip: string, loop: WorkerLoop, handler: DatagramHandler) {
    this.#loop = loop;
    this.#handler = handler;
    // Addresses are numbers: nobody is asked for them.
    const lookup = (host: string, _: unknown, answer: LookupAnswer): void =>
      answer(null, host, isIPv6(host) ? 6 : 4);
    this.#socket = dgram.createSocket({
      type: isIPv6(ip) ? 'udp6' : 'udp4',
      lookup: lookup as dgram.SocketOptions['lookup'],
    });
    this.#socket.on('message', (data, { address, port }) => {
      if (!this.#isClosed) loop.run(handler, () => handler.onDatagram(data, address, port));
    });
    this.#socket.on('error', () => loop.run(handler, () => handler.onReceiveError()));
  }

  /** Reads a bound descriptor, which becomes this object's. Throws where it is none of UDP. */
  static adopt(fd: number, ip: string, loop: WorkerLoop, handler: DatagramHandler): DatagramSocket {
    const made = new DatagramSocket(ip, loop, handler);
    made.#socket.bind({ fd, exclusive: true });
    return made;
  }

  /** Hears this peer alone; `from` is this side's address. */
  static connect(
    { ip, port }: { readonly ip: string; readonly port: number },
    from: { readonly address: string; readonly port: number } | undefined,
    loop: WorkerLoop,
    handler: DatagramHandler,
  ): DatagramSocket {
    const made = new DatagramSocket(ip, loop, handler);
    made.#waiting = [];
    // The runtime gives the callback an error where it cannot connect.
    const connected = (error?: Error): void =>
      loop.run(handler, () => made.#sendWaiting(error !== undefined));
    if (from === undefined) made.#socket.connect(port, ip, connected);
    else made.#bindTo(from, () => made.#socket.connect(port, ip, connected), connected);
    return made;
  }

  /** To the connected peer, or to this one. The data is not changed by anybody any more. */
  send(data: Buffer, to?: { readonly ip: string; readonly port: number }): void {
    if (this.#isClosed) return;
    if (this.#waiting !== undefined) {
      if (this.#waiting.length < UNCONNECTED_MAX) this.#waiting.push(data);
      else this.#handler.onSendError();
      return;
    }
    if (this.#isLost || this.#socket.getSendQueueSize() > SEND_QUEUE_BYTES_MAX) {
      this.#handler.onSendError();
      return;
    }
    const done = (error: Error | null): void => {
      if (error !== null && !this.#isClosed) {
        this.#loop.run(this.#handler, () => this.#handler.onSendError());
      }
    };
    if (to === undefined) this.#socket.send(data, done);
    else this.#socket.send(data, to.port, to.ip, done);
  }

  /**
   * Takes nothing more, and still sends. False where this runtime does not let us at the handle: then
   * closing is all that there is.
   */
  stopReading(): boolean {
    const inner = Object.getOwnPropertySymbols(this.#socket).find(
      ({ description }) => description === 'state symbol',
    );
    if (inner === undefined) return false;
    const state: unknown = Reflect.get(this.#socket, inner);
    const { handle } = state as { readonly handle?: { recvStop?(): void } | null };
    if (typeof handle?.recvStop !== 'function') return false;
    handle.recvStop();
    return true;
  }

  /** Resolves when the descriptor is closed. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting = undefined;
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  /** An address that cannot be had is told as an error of the socket. */
  #bindTo(
    from: { readonly address: string; readonly port: number },
    bound: () => void,
    failed: (error: Error) => void,
  ): void {
    this.#socket.once('error', failed);
    this.#socket.bind({ ...from, exclusive: true }, () => {
      this.#socket.off('error', failed);
      if (!this.#isClosed) bound();
    });
  }

  #sendWaiting(isLost: boolean): void {
    this.#isLost = isLost;
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const data of waiting) this.send(data);
  }
}

type LookupAnswer = (error: null, address: string, family: number) => void;
