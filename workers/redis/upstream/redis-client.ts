/**
 * One connection to a host, which many clients' commands share: commands go out in their order, and
 * answers come back in the same. It authenticates before anything else. A host that does not answer
 * in time loses the connection, with everything on it.
 */
import type { RedisHostSettings } from '../../../shared/resources/filters/network/redis-proxy.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import type { TransportHandler } from '../../net/byte-stream.ts';
import type { Transport } from '../../net/transport.ts';
import { openUpstream } from '../../upstream-transport/upstream-transport.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { HostUser, UpstreamHost } from '../../upstream/hosts/host.ts';
import { RedisAccount } from '../../upstream/hosts/redis-account.ts';
import type { ClosingSide } from '../../upstream/pools/connection-account.ts';
import { RespDecoder } from '../codec/resp-decoder.ts';
import { RespError } from '../codec/resp-error.ts';
import { encodeCommand, RespKind, type RespValue, type RespVersion } from '../codec/resp-value.ts';
import { writeText } from '../write-text.ts';
import { type CommandHandle, HeldHandle, type HeldCommand, SentHandle } from './command-handle.ts';
import { type CommandCallbacks, CommandQueue, type SentCommand } from './command-queue.ts';
import type { ClusterCommandStats } from './command-stats.ts';
import {
  credentialsFor,
  type IamParts,
  isAgreement,
  type RedisCredentials,
} from './credentials.ts';

const TIMER_ANSWER = 0;
const TIMER_FLUSH = 1;

export interface RedisClientParts {
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  readonly settings: RedisHostSettings;
  readonly version: RespVersion;
  readonly stats: ClusterCommandStats;
  readonly secretText: IamParts['secretText'];
  /** The host leaves the cluster, or the connection is over: no further command is for it. */
  readonly onLeave: (client: RedisClient) => void;
}

export class RedisClient implements TransportHandler, TimerOwner, HostUser {
  readonly host: UpstreamHost;
  readonly #parts: RedisClientParts;
  readonly #transport: Transport;
  readonly #account: RedisAccount;
  readonly #decoder: RespDecoder;
  readonly #queue = new CommandQueue();
  readonly #answerTimer = new LoopTimer(this, TIMER_ANSWER);
  #flushTimer: LoopTimer | undefined = undefined;
  /** What was not written yet: the connection does not stand, or more is waited for. */
  #waiting = '';
  #held: HeldCommand[] | undefined = undefined;
  #isConnected = false;
  #isDraining = false;
  isClosed = false;

  constructor(parts: RedisClientParts) {
    const { cluster, host } = parts;
    const { loop, stats, resource } = cluster;
    this.host = host;
    this.#parts = parts;
    this.#account = new RedisAccount(stats.writer, stats.base, host);
    this.#decoder = new RespDecoder(this, loop.held);
    const { transport } = openUpstream(cluster, { host, client: undefined }, this, undefined);
    this.#transport = transport;
    cluster.retained.hold();
    this.#account.opened();
    host.attach(this);
    loop.timers.list(resource.connectTimeoutMs).arm(this.#answerTimer);
    const { secretText } = parts;
    const { wallMs } = loop.clock;
    this.#introduce(credentialsFor(resource.redis, host, { secretText, wallMs }));
  }

  /** Bytes that were sent and that the host has not taken. */
  get backlogBytes(): number {
    return this.#waiting.length + this.#transport.pendingBytes;
  }

  /** The first word is the command's name. */
  send(words: readonly string[], callbacks: CommandCallbacks | undefined): CommandHandle {
    if (this.#held === undefined) return new SentHandle(this.#sendNow(words, callbacks));
    const held: HeldCommand = { words, callbacks, command: undefined, isCancelled: false };
    this.#held.push(held);
    return new HeldHandle(held);
  }

  /** What the answer asked for was done, or was not possible. */
  redirected(hasSucceeded: boolean): void {
    this.#account.redirected(hasSucceeded);
  }

  /** Closes after the commands that it has. */
  drain(): void {
    this.#parts.onLeave(this);
    if (this.#isIdle) this.close();
    else this.#isDraining = true;
  }

  /** At once; what waits for answers is told. */
  close(): void {
    this.#transport.close();
    this.#end('local');
  }

  onConnect(): void {
    this.#isConnected = true;
    this.#account.connected();
    this.#answerTimer.disarm();
    if (!this.#isIdle) this.#armAnswer();
    this.#flush();
  }

  onData(input: Buffer, start: number, end: number): void {
    try {
      this.#decoder.decode(input, start, end);
    } catch (error) {
      if (!(error instanceof RespError)) throw error;
      this.host.outlier?.note(BAD_ANSWER);
      this.#account.brokeProtocol();
      this.close();
    }
  }

  onValue(value: RespValue): void {
    // What a host says unasked is nobody's answer.
    if (value.kind === RespKind.push) return;
    const command = this.#queue.shift();
    if (command === undefined) return;
    if (command.isCancelled) this.#account.cancelled();
    this.#account.answered();
    this.#count(command, value);
    if (!command.isCancelled) command.callbacks?.onAnswer(value);
    if (this.isClosed) return;
    this.host.outlier?.note(GOOD_ANSWER);
    if (!this.#isIdle) this.#armAnswer();
    else this.#rest();
  }

  onRemoteClose(): void {
    if (!this.#isConnected || !this.#isIdle) this.host.outlier?.connectFailed(false);
    this.#end('remote');
  }

  onWriteBlocked(): void {
    // Clients stop by what they have unanswered.
  }

  onException(): void {
    this.close();
  }

  onTimer(kind: number): void {
    if (kind === TIMER_FLUSH) {
      this.#flush();
      return;
    }
    this.host.outlier?.connectFailed(true);
    this.#account.timedOut();
    this.close();
  }

  get #isIdle(): boolean {
    return this.#queue.length === 0 && (this.#held?.length ?? 0) === 0;
  }

  #introduce({ username, password }: RedisCredentials): void {
    const { version, settings } = this.#parts;
    const isReplicaToo = settings.readPolicy !== 'MASTER';
    const hasCredentials = username !== '' || password !== '';
    if (version === 3) {
      this.#held = [];
      const auth = hasCredentials ? ['AUTH', username === '' ? 'default' : username, password] : [];
      this.#sendNow(['HELLO', '3', ...auth], this.#untilReady(isAgreement, isReplicaToo));
      return;
    }
    if (hasCredentials) {
      this.#sendNow(['auth', ...(username === '' ? [] : [username]), password], undefined);
    }
    if (isReplicaToo) this.#sendNow(['readonly'], undefined);
  }

  /** Sends a step without whose success no command may go out. */
  #untilReady(isGood: (value: RespValue) => boolean, asksForReads: boolean): CommandCallbacks {
    const fail = (): void => {
      if (this.isClosed) return;
      this.#parts.stats.count('upstream_resp3_hello_failure');
      this.close();
    };
    return {
      onFailure: fail,
      onAnswer: (value) => {
        if (!isGood(value)) fail();
        else if (asksForReads) {
          const isDone = (answer: RespValue): boolean => !answer.isError;
          this.#sendNow(['readonly'], this.#untilReady(isDone, false));
        } else this.#sendHeld();
      },
    };
  }

  #sendHeld(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const each of held) {
      if (!each.isCancelled) each.command = this.#sendNow(each.words, each.callbacks);
    }
  }

  #sendNow(words: readonly string[], callbacks: CommandCallbacks | undefined): SentCommand {
    const { cluster, stats, settings } = this.#parts;
    const name = (words[0] ?? '').toLowerCase();
    const sentMs = cluster.loop.clock.ms;
    const command = { name, callbacks, sentMs, stats: stats.sent(name), isCancelled: false };
    this.#queue.push(command);
    this.#account.asked();
    if (this.#isConnected && this.#queue.length === 1) this.#armAnswer();
    const wasEmpty = this.#waiting === '';
    this.#waiting += encodeCommand(words);
    if (this.#waiting.length >= settings.flushBytes) this.#flush();
    else if (wasEmpty) {
      this.#flushTimer ??= new LoopTimer(this, TIMER_FLUSH);
      cluster.loop.timers.list(settings.flushDelayMs).arm(this.#flushTimer);
    }
    return command;
  }

  #flush(): void {
    if (!this.#isConnected || this.#waiting === '') return;
    this.#flushTimer?.disarm();
    const text = this.#waiting;
    this.#waiting = '';
    writeText(this.#transport, text);
  }

  #armAnswer(): void {
    const { cluster, settings } = this.#parts;
    cluster.loop.timers.list(settings.opTimeoutMs).arm(this.#answerTimer);
  }

  #rest(): void {
    this.#answerTimer.disarm();
    if (!this.#isDraining) return;
    this.#parts.stats.count('upstream_cx_drained');
    this.close();
  }

  #count(command: SentCommand, value: RespValue): void {
    const { cluster, stats } = this.#parts;
    const micros = Math.round((cluster.loop.clock.ms - command.sentMs) * 1000);
    stats.answered(command.name, command.stats, !command.isCancelled && !value.isError, micros);
  }

  #end(how: ClosingSide): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const { cluster, onLeave } = this.#parts;
    this.#answerTimer.disarm();
    this.#flushTimer?.disarm();
    this.#decoder.release();
    this.host.detach(this);
    onLeave(this);
    try {
      this.#failAll();
    } finally {
      this.#account.closed(how);
      cluster.retained.letGo();
    }
  }

  #failAll(): void {
    for (let each = this.#queue.shift(); each !== undefined; each = this.#queue.shift()) {
      if (each.isCancelled) this.#account.cancelled();
      else each.callbacks?.onFailure();
    }
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { callbacks, isCancelled } of held) {
      if (!isCancelled) callbacks?.onFailure();
    }
  }
}

/** What answers come to in terms of statuses, for outlier detection. */
const GOOD_ANSWER = 200;
const BAD_ANSWER = 500;
