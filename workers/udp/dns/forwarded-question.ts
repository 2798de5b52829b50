/**
 * One question that is passed on to name servers: each attempt has a socket, and with it a port, of
 * its own, and goes to the next server.
 */
import { randomInt } from 'node:crypto';
import { decodeAnswer, encodeQuestion, type Question } from '../../../shared/dns/dns-message.ts';
import type { DnsForwarding } from '../../../shared/resources/udp-listener.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import { type DatagramHandler, DatagramSocket } from '../datagram-socket.ts';

const IDS = 0x10000;

export class ForwardedQuestion implements DatagramHandler, TimerOwner {
  readonly #question: Question;
  readonly #forward: DnsForwarding;
  readonly #loop: WorkerLoop;
  readonly #done: (addresses: readonly string[]) => void;
  readonly #timer = new LoopTimer(this, 0);
  #socket: DatagramSocket | undefined = undefined;
  #attempts = 0;
  #isOver = false;

  /** `done` is told once, unless it is ended; never before `ask` returns. */
  constructor(
    asked: Pick<Question, 'name' | 'family'>,
    forward: DnsForwarding,
    loop: WorkerLoop,
    done: (addresses: readonly string[]) => void,
  ) {
    this.#question = { ...asked, id: randomInt(IDS) };
    this.#forward = forward;
    this.#loop = loop;
    this.#done = done;
  }

  /** False where the name is none that can be asked for, or there is nobody to ask. */
  ask(): boolean {
    const { servers, timeoutMs } = this.#forward;
    const { name, family, id } = this.#question;
    const server = servers[this.#attempts % Math.max(1, servers.length)];
    const message = encodeQuestion(name, family, id);
    if (server === undefined || message === undefined) return false;
    this.#attempts += 1;
    this.#socket = DatagramSocket.connect(server, undefined, this.#loop, this);
    this.#socket.send(message);
    this.#loop.timers.list(Math.max(1, timeoutMs)).arm(this.#timer);
    return true;
  }

  end(): void {
    this.#isOver = true;
    this.#timer.disarm();
    void this.#socket?.close();
    this.#socket = undefined;
  }

  onDatagram(data: Buffer): void {
    if (this.#isOver) return;
    const answer = decodeAnswer(data, this.#question);
    // It may be of somebody else: the true one may follow.
    if (answer === 'EBADRESP') return;
    this.#finish(typeof answer === 'string' ? [] : answer.map(({ address }) => address));
  }

  onReceiveError(): void {
    this.#again();
  }

  onSendError(): void {
    this.#again();
  }

  onTimer(): void {
    this.#again();
  }

  onException(): void {
    this.#finish([]);
  }

  #again(): void {
    if (this.#isOver) return;
    void this.#socket?.close();
    this.#socket = undefined;
    if (this.#attempts >= this.#forward.tries || !this.ask()) this.#finish([]);
  }

  #finish(addresses: readonly string[]): void {
    if (this.#isOver) return;
    this.end();
    this.#done(addresses);
  }
}
