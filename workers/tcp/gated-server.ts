/**
 * Puts gates in front of a server of connections: refused ones are closed, others pass untouched.
 */
import { connectionStream, type StreamInfo } from '../stream/stream-info.ts';
import type {
  ChainServer,
  ConnectionObserver,
  OpenConnection,
  ServedConnection,
} from '../stream/chain-server.ts';
import type { TransportHandler } from '../net/byte-stream.ts';
import type { Transport } from '../net/transport.ts';
import { bufferLimit } from '../net/write-blocks.ts';
import { LoopTimer, type TimerOwner } from '../loop/timers.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { FirstBytesTaker, NetworkGate, Waiting } from '../filters/network-gate.ts';
import { EarlyBytes } from './early-bytes.ts';

export function gatedServer(
  inner: ChainServer,
  gates: readonly NetworkGate[],
  loop: WorkerLoop,
): ChainServer {
  if (gates.length === 0) return inner;
  return {
    bufferLimitBytes: inner.bufferLimitBytes,
    counters: inner.counters,
    create: (observer, open) => new GatedConnection({ inner, gates, loop }, observer, open),
  };
}

interface GatedParts {
  readonly inner: ChainServer;
  readonly gates: readonly NetworkGate[];
  readonly loop: WorkerLoop;
}

class GatedConnection
  implements ServedConnection, ConnectionObserver, TransportHandler, TimerOwner
{
  readonly openedMs: number;
  readonly #parts: GatedParts;
  readonly #observer: ConnectionObserver;
  readonly #served: ServedConnection;
  #handler: TransportHandler | undefined = undefined;
  #info: StreamInfo | undefined = undefined;
  #mayPass = false;
  #transport: Transport | undefined = undefined;
  #closeTimer: LoopTimer | undefined = undefined;
  /** A gate makes the connection wait. */
  #waiting: Waiting | undefined = undefined;
  /** How many gates have let the connection pass. */
  #passed = 0;
  /** How many have let its first bytes pass. */
  #asked = 0;
  /** What takes messages off the client's first bytes; undefined: nothing has come yet. */
  #takers: FirstBytesTaker[] | undefined = undefined;
  /** What came while a gate waits that has been asked about the first bytes. */
  #early: EarlyBytes | undefined = undefined;

  constructor(parts: GatedParts, observer: ConnectionObserver, open: OpenConnection) {
    this.#parts = parts;
    this.#observer = observer;
    this.#served = parts.inner.create(this, (handler) => {
      const { clock } = parts.loop;
      const opened = open(this);
      this.#handler = handler;
      this.#transport = opened.transport;
      this.#info = connectionStream(opened.info, clock);
      return opened;
    });
    // Gates say what they know where the connection's own access logs read it.
    this.#info = this.#served.describe?.() ?? this.#info;
    this.openedMs = this.#served.openedMs;
  }

  start(): void {
    const info = this.#info;
    if (info === undefined) return;
    const { gates } = this.#parts;
    for (let gate = gates[this.#passed]; gate !== undefined; gate = gates[this.#passed]) {
      const verdict = gate.onConnection?.(info, (mayPass) => this.#resume(mayPass)) ?? true;
      if (typeof verdict === 'object') {
        this.#transport?.pauseReading(true);
        this.#waiting = verdict;
        return;
      }
      if (verdict !== true) {
        this.#refuse(verdict === false ? 0 : verdict);
        return;
      }
      this.#passed += 1;
    }
    this.#served.start?.();
  }

  #resume(mayPass: boolean): void {
    this.#waiting = undefined;
    if (!mayPass) {
      this.close();
      return;
    }
    this.#transport?.pauseReading(false);
    this.#passed += 1;
    this.start();
  }

  onException(): void {
    this.close();
  }

  onTimer(): void {
    this.close();
  }

  /** The rest of its life the connection says nothing and is not heard. */
  #refuse(delayMs: number): void {
    if (delayMs <= 0) {
      this.close();
      return;
    }
    this.#transport?.pauseReading(true);
    this.#closeTimer = new LoopTimer(this, 0);
    this.#parts.loop.timers.list(delayMs).arm(this.#closeTimer);
  }

  close(): void {
    this.#served.close();
  }

  describe(): StreamInfo | undefined {
    return this.#served.describe?.() ?? this.#info;
  }

  closeGracefully(): void {
    if (this.#served.closeGracefully === undefined) this.close();
    else this.#served.closeGracefully();
  }

  streams(): Iterable<StreamInfo> {
    return this.#served.streams?.() ?? [];
  }

  get openStreams(): number | undefined {
    return this.#served.openStreams;
  }

  get idleSinceMs(): number | undefined {
    return this.#served.idleSinceMs;
  }

  closeIdle(): void {
    this.#served.closeIdle?.();
  }

  onConnectionEnd(): void {
    this.#waiting?.cancel();
    this.#waiting = undefined;
    this.#early?.drop();
    this.#closeTimer?.disarm();
    for (const gate of this.#parts.gates.slice(0, this.#passed)) gate.onEnd?.();
    this.#passed = 0;
    this.#observer.onConnectionEnd(this);
  }

  onConnect(): void {
    this.#handler?.onConnect();
  }

  onData(input: Buffer, start: number, end: number): void {
    if (this.#takers === undefined || this.#takers.length > 0) {
      const rest = this.#takeOff(input.subarray(start, end));
      if (rest !== undefined && rest.length > 0) this.#pass(rest, 0, rest.length);
    } else this.#pass(input, start, end);
  }

  /** Messages before the client's first bytes, in the order of the gates. */
  #takeOff(bytes: Buffer): Buffer | undefined {
    this.#takers ??= this.#beginTaking();
    let rest: Buffer | undefined = bytes;
    for (let taker = this.#takers[0]; taker !== undefined; taker = this.#takers[0]) {
      rest = taker.take(rest);
      if (rest === undefined) return undefined;
      this.#takers.shift();
    }
    return rest;
  }

  #beginTaking(): FirstBytesTaker[] {
    const info = this.#info;
    if (info === undefined) return [];
    const write = (message: Buffer): void => this.#transport?.writeData(message);
    const takers = this.#parts.gates.map((gate) => gate.exchange?.(info, write));
    return takers.filter((taker) => taker !== undefined);
  }

  #pass(input: Buffer, start: number, end: number): void {
    if (!this.#mayPass && !this.#askFirst()) {
      this.#early?.keep(input.subarray(start, end));
      return;
    }
    this.#handler?.onData(input, start, end);
  }

  onRemoteEnd(): void {
    const [taker] = this.#takers ?? [];
    this.#takers = [];
    const rest = taker?.takeLast();
    if (rest !== undefined && rest.length > 0) this.#pass(rest, 0, rest.length);
    if (!this.#mayPass && !this.#askFirst()) {
      if (this.#early !== undefined) this.#early.hasEnded = true;
      return;
    }
    this.#handler?.onRemoteEnd?.();
  }

  /** Whether all gates have let the first bytes pass; `early` is there while one of them waits. */
  #askFirst(): boolean {
    const info = this.#info;
    const transport = this.#transport;
    const early = this.#early;
    const isRefused = this.#closeTimer !== undefined;
    if (isRefused || early !== undefined || info === undefined || transport === undefined)
      return false;
    const { gates, loop, inner } = this.#parts;
    for (let gate = gates[this.#asked]; gate !== undefined; gate = gates[this.#asked]) {
      const verdict = gate.onFirstBytes?.(info, (mayPass) => this.#resumeBytes(mayPass)) ?? true;
      if (typeof verdict === 'object') {
        this.#waiting = verdict;
        this.#early = new EarlyBytes(transport, loop.held, bufferLimit(inner.bufferLimitBytes));
        return false;
      }
      if (verdict !== true) {
        this.#refuse(verdict === false ? 0 : verdict);
        return false;
      }
      this.#asked += 1;
    }
    this.#mayPass = true;
    return true;
  }

  #resumeBytes(mayPass: boolean): void {
    this.#waiting = undefined;
    const early = this.#early;
    const handler = this.#handler;
    const info = this.#info;
    if (!mayPass) {
      if (info !== undefined) info.bytesReceived += early?.bytes ?? 0;
      this.close();
      return;
    }
    this.#asked += 1;
    this.#early = undefined;
    if (this.#askFirst()) {
      if (handler !== undefined) early?.release(handler);
    } else if (this.#early !== undefined) early?.moveTo(this.#early);
    else early?.drop();
  }

  onRemoteClose(error: NodeJS.ErrnoException | undefined): void {
    this.#handler?.onRemoteClose(error);
  }

  onWriteBlocked(blocked: boolean): void {
    this.#handler?.onWriteBlocked(blocked);
  }
}
