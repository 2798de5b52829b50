/**
 * One downstream HTTP connection: its transport, its codec, its open streams and its own timers. It
 * accounts for the connection's life and decides how it ends; requests are the streams'.
 */
import { HTTP_CONNECTION_MANAGER } from '../../shared/stats/templates/http-connection-manager.ts';
import type {
  ConnectionObserver,
  OpenConnection,
  ServedConnection,
} from '../stream/chain-server.ts';
import { ResponseFlag } from '../stream/response-flags.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import type { ProtocolTraits } from '../stream/protocol-traits.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { connectionStart } from './stream-facts.ts';
import { LoopTimer } from '../loop/timers.ts';
import type { TransportHandler } from '../net/byte-stream.ts';
import type { Transport } from '../net/transport.ts';
import type {
  RequestDecoder,
  ResponseEncoder,
  ServerCodec,
  ServerCodecOwner,
} from '../stream/codec.ts';
import { noteEnd, noteOpen, noteProtocol } from './connection-counts.ts';
import { DrainableConnection, TIMER_DRAIN } from './drainable-connection.ts';
import type { ConnectionManager } from './manager.ts';
import { HttpStream } from './stream.ts';

const index = HTTP_CONNECTION_MANAGER.index;
const RQ_OVERLOAD_CLOSE = index.downstream_rq_overload_close;
const CX_IDLE_TIMEOUT = index.downstream_cx_idle_timeout;
const CX_MAX_DURATION = index.downstream_cx_max_duration_reached;
const CX_DELAYED_CLOSE = index.downstream_cx_delayed_close_timeout;
const CX_DRAIN_CLOSE = index.downstream_cx_drain_close;
const CX_PROTOCOL_ERROR = index.downstream_cx_protocol_error;
export const DOWNSTREAM_RX_TOTAL = index.downstream_cx_rx_bytes_total;
export const DOWNSTREAM_TX_TOTAL = index.downstream_cx_tx_bytes_total;

const TIMER_IDLE = TIMER_DRAIN + 1;
const TIMER_DURATION = TIMER_IDLE + 1;
const TIMER_CLOSE = TIMER_DURATION + 1;

export class HttpConnection
  extends DrainableConnection
  implements ServedConnection, TransportHandler, ServerCodecOwner
{
  readonly info: ConnectionInfo;
  readonly #observer: ConnectionObserver;
  readonly #transport: Transport;
  protected codec: ServerCodec;
  readonly openedMs: number;
  /** CLOCK_MONOTONIC milliseconds since which nothing was asked; undefined with a stream open. */
  idleSinceMs: number | undefined;
  #isAskedToLeave = false;
  readonly #idleTimer = new LoopTimer(this, TIMER_IDLE);
  readonly #durationTimer = new LoopTimer(this, TIMER_DURATION);
  readonly #closeTimer = new LoopTimer(this, TIMER_CLOSE);
  #isEnded = false;
  /** The one that may be open. */
  #newest: HttpStream | undefined = undefined;
  #hasSpoken = false;
  #brokeProtocol = false;
  /** The socket closes by itself once what was written has left. */
  #isClosing = false;

  /** `open` makes the transport with this connection as its handler. */
  constructor(manager: ConnectionManager, observer: ConnectionObserver, open: OpenConnection) {
    super(manager);
    this.#observer = observer;
    this.openedMs = manager.parts.loop.clock.ms;
    this.idleSinceMs = this.openedMs;
    const { transport, info } = open(this);
    this.#transport = transport;
    this.info = info;
    this.codec = manager.parts.makeCodec(transport, this, info);
    noteOpen(manager.parts.stats, info);
    manager.idle?.arm(this.#idleTimer);
    manager.maxConnectionDuration?.arm(this.#durationTimer);
  }

  newStream(encoder: ResponseEncoder): RequestDecoder {
    this.#idleTimer.disarm();
    this.idleSinceMs = undefined;
    this.requests++;
    this.countStream();
    if (this.isEndingSafely) this.startDrain(true);
    if (this.traits?.isMultiplexed === true && this.hasServedEnough()) this.announceDrain();
    this.#newest = new HttpStream(this, encoder);
    return this.#newest;
  }

  describe(): StreamInfo {
    const info = connectionStart(this.info, this.openedMs, this.manager.parts.loop.clock);
    info.protocol = this.requests > (this.#brokeProtocol ? 1 : 0) ? this.codec.protocol : undefined;
    if (this.#brokeProtocol) info.responseFlags |= ResponseFlag.downstreamProtocolError;
    info.bytesReceived = this.#transport.bytesRead;
    info.bytesSent = this.#transport.bytesWritten;
    return info;
  }

  /** A stream begins, by a client's request or by a redirect that is followed here. */
  countStream(): void {
    this.manager.ledger.routed();
    if (this.traits !== undefined) this.manager.parts.stats.count(this.traits.requestsTotal);
  }

  get protocol(): ServerCodec['protocol'] {
    return this.codec.protocol;
  }

  onProtocolError(): void {
    this.#brokeProtocol = true;
    this.manager.parts.stats.count(CX_PROTOCOL_ERROR);
  }

  onPrematureResets(): void {
    const { stats } = this.manager.parts;
    stats.count(index.downstream_rq_too_many_premature_resets);
    stats.count(CX_PROTOCOL_ERROR);
  }

  onCodecChosen(codec: ServerCodec, input: Buffer, start: number, end: number): void {
    this.codec = codec;
    this.#countProtocol();
    this.onData(input, start, end);
  }

  onStreamEnd(): void {
    if (this.codec.openStreams > 0 || this.#isEnded) return;
    this.idleSinceMs = this.manager.parts.loop.clock.ms;
    this.manager.idle?.arm(this.#idleTimer);
  }

  onConnect(): void {
    // Accepted sockets are connected from the beginning.
  }

  onData(input: Buffer, start: number, end: number): void {
    if (!this.#hasSpoken && !this.#begin()) return;
    if (this.traits !== undefined && this.#isShed(this.traits)) return;
    // The beginning of a request is no idleness.
    if (this.idleSinceMs !== undefined) this.idleSinceMs = this.manager.parts.loop.clock.ms;
    this.codec.onData(input, start, end);
  }

  /** Whether an overload ends the connection with this read. */
  #isShed({ shedsAt, endsAt, asksToLeaveAt }: ProtocolTraits): boolean {
    const { overload, stats } = this.manager.parts;
    if (shedsAt !== undefined && overload.sheds(shedsAt)) {
      stats.count(RQ_OVERLOAD_CLOSE);
      this.codec.abort();
      return true;
    }
    if (endsAt !== undefined && overload.sheds(endsAt)) {
      this.codec.announceClose();
      this.codec.startDrain(true);
      this.codec.abort();
      return true;
    }
    if (asksToLeaveAt !== undefined && overload.sheds(asksToLeaveAt) && !this.#isAskedToLeave) {
      this.#isAskedToLeave = true;
      this.codec.announceClose();
    }
    return false;
  }

  /** False where an overload ends the connection before its first request. */
  #begin(): boolean {
    const { overload, stats } = this.manager.parts;
    if (overload.sheds('hcm_ondata_creating_codec')) {
      stats.count(RQ_OVERLOAD_CLOSE);
      this.close();
      return false;
    }
    this.#hasSpoken = true;
    this.#countProtocol();
    return true;
  }

  onException(): void {
    if (this.#isEnded) return;
    this.#newest?.onException();
    if (this.#isEnded) return;
    this.codec.stop();
    this.onCodecFinished('now');
  }

  onWriteBlocked(blocked: boolean): void {
    this.codec.onWriteBlocked(blocked);
  }

  onRemoteClose(): void {
    this.#end(this.#isClosing ? 'local' : 'remote');
  }

  get openStreams(): number {
    return this.codec.openStreams;
  }

  *streams(): Generator<StreamInfo> {
    const decoders = this.codec.decoders?.();
    let isAny = false;
    for (const each of decoders ?? []) {
      if (!(each instanceof HttpStream)) continue;
      isAny = true;
      yield each.info;
    }
    if (!isAny && this.#newest !== undefined) yield this.#newest.info;
  }

  /** Ends a connection without a stream, as soon as what was written has left. */
  closeIdle(): void {
    if (this.codec.openStreams > 0 || this.#isClosing) return;
    this.manager.parts.stats.count(CX_DRAIN_CLOSE);
    this.startDrain();
    this.codec.stop();
    this.onCodecFinished('now');
  }

  /** Closes at once from this side; open streams end. */
  close(): void {
    this.#transport.close();
    this.#end('local');
  }

  onPartsDropped(count: number): void {
    this.manager.parts.stats.countDroppedParts(count);
  }

  onCodecFinished(how: 'now' | 'delayed' | 'at_once'): void {
    const { delayedClose } = this.manager;
    if (this.#isEnded) return;
    this.#idleTimer.disarm();
    if (how === 'at_once') {
      this.close();
      return;
    }
    if (how === 'now' || delayedClose === undefined) {
      this.#isClosing = true;
      if (this.#transport.closeAfterWrites()) this.#end('local');
      // The client does not take what was written: it gets the same time to do so.
      else delayedClose?.arm(this.#closeTimer);
      return;
    }
    delayedClose.arm(this.#closeTimer);
  }

  onTimer(kind: number): void {
    const { stats } = this.manager.parts;
    if (kind === TIMER_IDLE) {
      stats.count(CX_IDLE_TIMEOUT);
      this.endSoon();
    } else if (kind === TIMER_DURATION) {
      stats.count(CX_MAX_DURATION);
      if (this.manager.config.isDurationSafe === true) this.endSafely();
      else this.endSoon();
    } else if (kind === TIMER_DRAIN) {
      this.codec.startDrain(false);
      if (this.codec.openStreams > 0) return;
      this.codec.stop();
      this.onCodecFinished('delayed');
    } else {
      stats.count(CX_DELAYED_CLOSE);
      this.close();
    }
  }

  #end(how: 'local' | 'remote'): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { stats, loop } = this.manager.parts;
    const wasActive = this.codec.openStreams > 0;
    this.#idleTimer.disarm();
    this.#durationTimer.disarm();
    this.#closeTimer.disarm();
    this.drainTimer.disarm();
    const { info, traits, isEndingSafely } = this;
    const ageMs = loop.clock.ms - this.openedMs;
    noteEnd(stats, how, { info, traits, ageMs, wasActive, isEndingSafely });
    try {
      this.codec.onTransportClosed();
    } catch (error) {
      loop.note(error);
      this.#newest?.onException();
    } finally {
      this.#observer.onConnectionEnd(this);
    }
  }

  /** Which protocol a client speaks is known with its first bytes. */
  #countProtocol(): void {
    const { stats } = this.manager.parts;
    const { traits } = this.codec;
    if (traits === undefined) return;
    this.traits = traits;
    noteProtocol(stats, traits);
  }
}
