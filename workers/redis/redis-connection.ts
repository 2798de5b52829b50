/**
 * One client's connection: reads commands, keeps their answers in order, and closes when it is
 * asked to, when its client breaks the protocol, or when its listener drains. It reads no more while
 * it has much without an answer, or while its client takes none.
 */
import { REDIS_PROXY } from '../../shared/stats/templates/redis.ts';
import { LoopTimer, type TimerOwner } from '../loop/timers.ts';
import type { Flushable } from '../loop/worker-loop.ts';
import type { TransportHandler } from '../net/byte-stream.ts';
import type { Transport } from '../net/transport.ts';
import type {
  ConnectionObserver,
  OpenConnection,
  ServedConnection,
} from '../stream/chain-server.ts';
import { connectionStream, type StreamInfo } from '../stream/stream-info.ts';
import { RespDecoder } from './codec/resp-decoder.ts';
import { RespError } from './codec/resp-error.ts';
import {
  encodeValue,
  errorValue,
  OK,
  type RespValue,
  type RespVersion,
} from './codec/resp-value.ts';
import type { RedisProxyServer } from './redis-proxy.ts';
import { ClientIdentity } from './session/client-identity.ts';
import { comesTooEarly, greetingAnswer, NO_VERSION, readGreeting } from './session/hello.ts';
import { PendingCommand } from './session/pending-command.ts';
import { Transaction } from './session/transaction.ts';
import type { Asker, Words } from './splitting/command-run.ts';
import { NOT_AUTHENTICATED, type Session } from './splitting/command-splitter.ts';
import { writeText } from './write-text.ts';

const { index } = REDIS_PROXY;

/** How long a client may take to read what it was sent before it is cut off. */
const CLOSE_TIMEOUT_MS = 10_000;
/** Commands without an answer, beyond which nothing more is read. */
const UNANSWERED_MAX = 1024;
export class RedisConnection
  implements ServedConnection, TransportHandler, Session, TimerOwner, Flushable
{
  readonly openedMs: number;
  readonly info: StreamInfo;
  readonly transaction = new Transaction();
  readonly #server: RedisProxyServer;
  readonly #observer: ConnectionObserver;
  readonly #transport: Transport;
  readonly #decoder: RespDecoder;
  readonly #identity: ClientIdentity;
  readonly #closeTimer = new LoopTimer(this, 0);
  /** In the order of their commands. */
  #pending: PendingCommand[] = [];
  #version: RespVersion = 2;
  #isQuitting = false;
  #isPaused = false;
  #isWriteBlocked = false;
  /** Commands of one read are answered together. */
  #isReading = false;
  #isDirty = false;
  #isEnded = false;
  isClosed = false;

  constructor(server: RedisProxyServer, observer: ConnectionObserver, open: OpenConnection) {
    const { loop } = server.parts;
    this.#server = server;
    this.#observer = observer;
    this.openedMs = loop.clock.ms;
    this.#decoder = new RespDecoder(this, loop.held);
    const { transport, info } = open(this);
    this.#transport = transport;
    this.info = connectionStream(info, loop.clock);
    this.#identity = new ClientIdentity({
      passwords: server.passwords,
      external: server.externalAuth,
      expires: server.config.externalAuth?.expires === true,
      clock: loop.clock,
      info: this.info,
      onAsked: () => this.#startHeld(),
      onException: () => this.onException(),
    });
    server.count(index.downstream_cx_total);
    server.add(index.downstream_cx_active, 1);
  }

  get isAllowed(): boolean {
    return this.#identity.isIn;
  }

  describe(): StreamInfo {
    this.info.bytesReceived = this.#transport.bytesRead;
    this.info.bytesSent = this.#transport.bytesWritten;
    return this.info;
  }

  close(): void {
    this.#transport.close();
    this.#end();
  }

  onConnect(): void {
    // An accepted socket is connected.
  }

  onData(input: Buffer, start: number, end: number): void {
    if (this.isClosed) return;
    this.#isReading = true;
    try {
      this.#decoder.decode(input, start, end);
    } catch (error) {
      if (!(error instanceof RespError)) throw error;
      this.#refuseProtocol();
    } finally {
      this.#isReading = false;
    }
    this.flush();
  }

  onValue(value: RespValue): void {
    this.#server.count(index.downstream_rq_total);
    this.#server.add(index.downstream_rq_active, 1);
    const command = new PendingCommand(this.#version, () => this.#answered());
    this.#pending.push(command);
    if (this.#identity.isAsking) command.held = value;
    else this.#start(command, value);
  }

  onRemoteClose(): void {
    this.#end();
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

  quit(): void {
    this.#isQuitting = true;
  }

  authenticate(words: Words, asker: Asker): void {
    this.#identity.authenticate(words, (value) => asker.answer(value));
  }

  greet(words: Words, asker: Asker, count: (answer: RespValue) => void): void {
    const tell = (value: RespValue): void => {
      count(value);
      asker.answer(value);
    };
    const greeting = readGreeting(words, {
      wanted: this.#server.config.version,
      present: this.#version,
    });
    if (!('auth' in greeting)) {
      tell(greeting);
      return;
    }
    const { auth, version } = greeting;
    const greet = (value: RespValue): void => {
      if (value === OK) this.#speak(version, asker);
      tell(value === OK ? greetingAnswer(version) : value);
    };
    if (auth !== undefined) this.#identity.check(auth.username, auth.password, greet);
    else greet(this.isAllowed ? OK : errorValue(NOT_AUTHENTICATED));
  }

  #start(command: PendingCommand, value: RespValue): void {
    if (this.#server.config.version === 3 && this.#version < 3 && comesTooEarly(value)) {
      this.#server.count(index.downstream_rq_noproto);
      command.answer(errorValue(NO_VERSION));
      return;
    }
    const handle = this.#server.splitter.start(value, this, command);
    if (!command.isAnswered) command.handle = handle;
  }

  /** What the client sent while a service was asked; one of these may ask again. */
  #startHeld(): void {
    for (const command of Array.from(this.#pending)) {
      if (this.#identity.isAsking || this.isClosed) return;
      const { held } = command;
      command.held = undefined;
      if (held !== undefined) this.#start(command, held);
    }
  }

  /** From the answer to this command on; what waits behind it was not answered before either. */
  #speak(version: RespVersion, asker: Asker): void {
    this.#version = version;
    for (const command of this.#pending) {
      if (command === asker || command.held !== undefined) command.version = version;
    }
  }

  /** A command has its answer. Those of one event leave together. */
  #answered(): void {
    // What comes behind a QUIT is not for this connection, once all before it is answered.
    if (this.#isReading && this.#isQuitting) this.flush();
    if (this.#isReading || this.#isDirty) return;
    this.#isDirty = true;
    this.#server.parts.loop.flushLater(this);
  }

  /** Writes the answers whose turn it is. */
  flush(): void {
    this.#isDirty = false;
    if (this.isClosed) return;
    let done = 0;
    for (const { value, version } of this.#pending) {
      if (value === undefined) break;
      writeText(this.#transport, encodeValue(value, version));
      done++;
    }
    if (done > 0) {
      this.#pending = done === this.#pending.length ? [] : this.#pending.slice(done);
      this.#server.subtract(index.downstream_rq_active, done);
      if (this.#pending.length === 0 && !this.#closeWhenDone()) return;
    }
    this.#throttle();
  }

  /** Nothing is open; false: the connection closes. */
  #closeWhenDone(): boolean {
    if (this.#isQuitting) {
      this.#closeAfterWrites();
      return false;
    }
    if (this.transaction.isEnding) this.transaction.close();
    if (!this.#server.closesWhileDraining()) return true;
    this.#server.count(index.downstream_cx_drain_close);
    this.#closeAfterWrites();
    return false;
  }

  #refuseProtocol(): void {
    this.#server.count(index.downstream_cx_protocol_error);
    this.#writeFinished();
    this.#transport.writeText(encodeValue(errorValue('downstream protocol error'), 2));
    this.#closeAfterWrites();
  }

  /** Answers that are here and whose turn it is, before the connection ends. */
  #writeFinished(): void {
    for (const { value, version } of this.#pending) {
      if (value === undefined) return;
      writeText(this.#transport, encodeValue(value, version));
    }
  }

  #closeAfterWrites(): void {
    this.#letGo();
    if (this.#transport.closeAfterWrites()) this.#end();
    else this.#server.parts.loop.timers.list(CLOSE_TIMEOUT_MS).arm(this.#closeTimer);
  }

  #throttle(): void {
    const isPaused = this.#isWriteBlocked || this.#pending.length >= UNANSWERED_MAX;
    if (isPaused === this.#isPaused || this.isClosed) return;
    this.#isPaused = isPaused;
    this.#transport.pauseReading(isPaused);
  }

  /** Nothing is asked, and nobody waits for answers any more. */
  #letGo(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#identity.forget();
    this.#decoder.release();
    for (const { handle, isAnswered } of this.#pending) {
      if (!isAnswered) handle?.cancel();
    }
    this.#server.subtract(index.downstream_rq_active, this.#pending.length);
    this.#pending = [];
    this.transaction.close();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#closeTimer.disarm();
    this.#letGo();
    this.#server.subtract(index.downstream_cx_active, 1);
    this.#observer.onConnectionEnd(this);
  }
}
