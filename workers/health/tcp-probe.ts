/** Asks a host over plain TCP: a connection is enough, or certain bytes must come back in order. */
import type { Socket } from 'node:net';
import type { TcpProbe as TcpProbeResource } from '../../shared/resources/clusters/health-check.ts';
import type { ProxyProtocolSender } from '../../shared/resources/clusters/proxy-protocol.ts';
import { checkHeader } from './check-target.ts';
import { hasInOrder } from './payload-match.ts';
import type { Probe, ProbeOutcome, ProbeTarget } from './probe.ts';

/** What an answer may bring before the expected bytes. */
const RECEIVED_BYTES_MAX = 64 * 1024;

export class TcpProbe implements Probe {
  readonly #target: ProbeTarget;
  readonly #send: Buffer;
  readonly #receive: readonly Buffer[];
  readonly #reuse: boolean;
  readonly #proxyProtocol: ProxyProtocolSender | undefined;
  #socket: Socket | undefined;
  #received = Buffer.alloc(0);
  #done: ((outcome: ProbeOutcome) => void) | undefined;
  #isWaiting = false;

  constructor(resource: TcpProbeResource, target: ProbeTarget, reuse: boolean) {
    this.#target = target;
    this.#send = Buffer.from(resource.send, 'hex');
    this.#receive = resource.receive.map((text) => Buffer.from(text, 'hex'));
    this.#reuse = reuse;
    this.#proxyProtocol = resource.proxyProtocol;
  }

  run(done: (outcome: ProbeOutcome) => void): void {
    this.#done = done;
    this.#isWaiting = true;
    this.#received = Buffer.alloc(0);
    // Without bytes to expect the connection itself is the answer, so it is a new one each time.
    if (this.#socket === undefined) this.#open();
    else this.#socket.write(this.#send);
  }

  cancel(): void {
    this.#done = undefined;
    this.#close();
  }

  #open(): void {
    const socket = this.#target.open();
    this.#socket = socket;
    socket.on(this.#target.readyEvent, () => {
      const first = Buffer.concat([this.#headerFor(socket), this.#send]);
      if (first.length > 0) socket.write(first);
      if (this.#receive.length === 0) this.#finish({ kind: 'passed', isDegraded: false });
    });
    socket.on('data', (data: Buffer) => this.#take(data));
    socket.on('error', () => this.#gone(socket));
    socket.on('close', () => this.#gone(socket));
  }

  /** Once per connection; one that is all that is asked for carries nothing. */
  #headerFor(socket: Socket): Buffer {
    const isAlone = this.#send.length === 0 && this.#receive.length === 0;
    return this.#proxyProtocol === undefined || isAlone
      ? Buffer.alloc(0)
      : checkHeader(this.#proxyProtocol, socket);
  }

  #take(data: Buffer): void {
    if (!this.#isWaiting) return;
    this.#received = Buffer.concat([this.#received, data]).subarray(0, RECEIVED_BYTES_MAX);
    if (!hasInOrder(this.#received, this.#receive)) return;
    this.#finish({ kind: 'passed', isDegraded: false });
  }

  #gone(socket: Socket): void {
    if (socket !== this.#socket) return;
    this.#close();
    this.#finish({ kind: 'unreachable', isTimeout: false });
  }

  #finish(outcome: ProbeOutcome): void {
    this.#isWaiting = false;
    if (!this.#reuse || this.#receive.length === 0) this.#close();
    this.#done?.(outcome);
  }

  #close(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
  }
}
