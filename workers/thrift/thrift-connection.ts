/** One client's connection of the Thrift proxy: reads requests and writes what is answered. */
import { THRIFT_PROXY } from '../../shared/stats/templates/thrift.ts';
import { ThriftError } from '../../shared/thrift/thrift-reader.ts';
import { LoopTimer, type TimerOwner } from '../loop/timers.ts';
import type { Transport } from '../net/transport.ts';
import type { TransportHandler } from '../net/byte-stream.ts';
import type { ConnectionFacts } from '../stream/connection-facts.ts';
import type {
  ConnectionObserver,
  OpenConnection,
  ServedConnection,
} from '../stream/chain-server.ts';
import { connectionStream, type StreamInfo } from '../stream/stream-info.ts';
import { type CutMessage, MessageStream } from './message-stream.ts';
import { ThriftExchange } from './thrift-exchange.ts';
import type { ThriftProxyServer } from './thrift-proxy.ts';

const { index } = THRIFT_PROXY;
/** How long a client may take to read what it was sent before it is cut off. */
const CLOSE_TIMEOUT_MS = 10_000;
/** Requests without an answer, beyond which nothing more is read. */
const UNANSWERED_MAX = 1024;
const CALL = 1;
const ONE_WAY = 4;

export class ThriftConnection implements ServedConnection, TransportHandler, TimerOwner {
  readonly openedMs: number;
  readonly info: StreamInfo;
  readonly #server: ThriftProxyServer;
  readonly #observer: ConnectionObserver;
  readonly #transport: Transport;
  readonly #facts: ConnectionFacts;
  readonly #messages: MessageStream;
  readonly #open = new Set<ThriftExchange>();
  readonly #closeTimer = new LoopTimer(this, 0);
  #requests = 0;
  #isPaused = false;
  #isWriteBlocked = false;
  #isClosing = false;
  #isEnded = false;

  constructor(server: ThriftProxyServer, observer: ConnectionObserver, open: OpenConnection) {
    const { loop } = server.parts;
    this.#server = server;
    this.#observer = observer;
    this.openedMs = loop.clock.ms;
    this.#messages = new MessageStream(server.config.transport, server.config.protocol);
    const { transport, info } = open(this);
    this.#transport = transport;
    this.#facts = info;
    this.info = connectionStream(info, loop.clock);
  }

  describe(): StreamInfo {
    this.info.bytesReceived = this.#transport.bytesRead;
    this.info.bytesSent = this.#transport.bytesWritten;
    return this.info;
  }

  close(): void {
    this.#transport.close();
    this.#end(index.cx_destroy_local_with_active_rq);
  }

  onConnect(): void {
    // An accepted socket is connected.
  }

  onData(input: Buffer, start: number, end: number): void {
    if (this.#isClosing) return;
    this.#messages.add(input.subarray(start, end));
    this.#read();
  }

  onRemoteClose(): void {
    this.#end(index.cx_destroy_remote_with_active_rq);
  }

  onWriteBlocked(blocked: boolean): void {
    this.#isWriteBlocked = blocked;
    this.#throttle();
  }

  onException(): void {
    this.close();
  }

  onTimer(): void {
    this.close();
  }

  answer(bytes: Buffer): void {
    if (this.#isEnded) return;
    this.#transport.writeData(bytes);
    if (this.#open.size > 0 || this.#isClosing) return;
    const { maxRequests } = this.#server.config;
    if (maxRequests > 0 && this.#requests >= maxRequests) {
      this.#server.count(index.downstream_cx_max_requests);
      this.closeAfterWrites();
    } else if (this.#server.parts.drain.shouldClose()) {
      this.#server.count(index.downstream_response_drain_close);
      this.closeAfterWrites();
    }
  }

  finished(exchange: ThriftExchange): void {
    this.#open.delete(exchange);
    if (!this.#isPaused || this.#isClosing) return;
    this.#throttle();
    this.#read();
  }

  closeAfterWrites(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (this.#transport.closeAfterWrites()) this.#end(index.cx_destroy_local_with_active_rq);
    else this.#server.parts.loop.timers.list(CLOSE_TIMEOUT_MS).arm(this.#closeTimer);
  }

  #read(): void {
    try {
      while (!this.#isClosing && !this.#isPaused) {
        const message = this.#messages.next();
        if (message === undefined) return;
        this.#begin(message);
        this.#throttle();
      }
    } catch (error) {
      if (!(error instanceof ThriftError)) throw error;
      this.#server.count(index.request_decoding_error);
      this.closeAfterWrites();
    }
  }

  #begin(message: CutMessage): void {
    if (message.type !== CALL && message.type !== ONE_WAY) {
      this.#server.count(index.request_invalid_type);
      this.closeAfterWrites();
      return;
    }
    const { maxRequests } = this.#server.config;
    // What comes behind the last one is not served.
    if (maxRequests > 0 && this.#requests >= maxRequests) return;
    this.#requests += 1;
    const exchange = new ThriftExchange(this.#server, this, message);
    this.#open.add(exchange);
    exchange.start(connectionStream(this.#facts, this.#server.parts.loop.clock));
  }

  #throttle(): void {
    const isPaused = this.#isWriteBlocked || this.#open.size >= UNANSWERED_MAX;
    if (isPaused === this.#isPaused || this.#isEnded) return;
    this.#isPaused = isPaused;
    this.#transport.pauseReading(isPaused);
  }

  #end(stat: number): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#isClosing = true;
    this.#closeTimer.disarm();
    if (this.#open.size > 0) this.#server.count(stat);
    for (const exchange of Array.from(this.#open)) exchange.cancel();
    this.#observer.onConnectionEnd(this);
  }
}
