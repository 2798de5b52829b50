/** The network filters that answer by themselves: an echo, and a fixed text. */
import type {
  ChainServer,
  ConnectionObserver,
  OpenConnection,
  ServedConnection,
} from '../stream/chain-server.ts';
import { connectionStream, type StreamInfo } from '../stream/stream-info.ts';
import type { TransportHandler } from '../net/byte-stream.ts';
import type { Transport } from '../net/transport.ts';
import { LoopTimer, type TimerOwner } from '../loop/timers.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';

interface SmallServerParts {
  readonly loop: WorkerLoop;
  readonly bufferLimitBytes: number;
}

/** How long a client may take to read what it was sent before it is cut off. */
const CLOSE_TIMEOUT_MS = 10_000;

/**
 * `response` (a byte string) is written to every client before the end; without one it hears
 * itself.
 */
export function smallServer(response: string | undefined, parts: SmallServerParts): ChainServer {
  return {
    bufferLimitBytes: parts.bufferLimitBytes,
    counters: undefined,
    create: (observer, open) => new SmallConnection({ ...parts, response }, observer, open),
  };
}

class SmallConnection implements ServedConnection, TransportHandler, TimerOwner {
  readonly openedMs: number;
  readonly #parts: SmallServerParts & { readonly response: string | undefined };
  readonly #observer: ConnectionObserver;
  readonly #transport: Transport;
  readonly #info: StreamInfo;
  readonly #closeTimer = new LoopTimer(this, 0);
  #isEnded = false;

  constructor(
    parts: SmallServerParts & { readonly response: string | undefined },
    observer: ConnectionObserver,
    open: OpenConnection,
  ) {
    this.#parts = parts;
    this.#observer = observer;
    this.openedMs = parts.loop.clock.ms;
    const { transport, info } = open(this);
    this.#transport = transport;
    this.#info = connectionStream(info, parts.loop.clock);
    this.#transport.keepHalfOpen();
  }

  start(): void {
    const { response, loop } = this.#parts;
    if (response === undefined) return;
    this.#transport.writeText(response);
    if (this.#transport.closeAfterWrites()) this.#end();
    else loop.timers.list(CLOSE_TIMEOUT_MS).arm(this.#closeTimer);
  }

  describe(): StreamInfo {
    this.#info.bytesReceived = this.#transport.bytesRead;
    this.#info.bytesSent = this.#transport.bytesWritten;
    return this.#info;
  }

  close(): void {
    this.#transport.close();
    this.#end();
  }

  onConnect(): void {
    // An accepted socket is connected.
  }

  onData(input: Buffer, start: number, end: number): void {
    if (this.#parts.response === undefined) this.#transport.writeData(input.subarray(start, end));
  }

  onRemoteEnd(): void {
    this.#transport.endWriting();
  }

  onRemoteClose(): void {
    this.#end();
  }

  onWriteBlocked(blocked: boolean): void {
    this.#transport.pauseReading(blocked);
  }

  onException(): void {
    this.close();
  }

  onTimer(): void {
    this.close();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#closeTimer.disarm();
    this.#observer.onConnectionEnd(this);
  }
}
