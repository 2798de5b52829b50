/**
 * The server side of one HTTP/2 connection: its settings, its streams as requests of the owner, its
 * drain in two steps, its pings and its limits. A stream's exchange is its own (server-stream.ts),
 * frames and windows are the session's; knows nothing of routes and filters.
 */
import type { Runtime } from '../loop/runtime.ts';
import type { TimerList } from '../loop/timers.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { Wire } from '../net/wire.ts';
import type { ServerCodec, ServerCodecOwner, RequestDecoder } from '../stream/codec.ts';
import type { Protocol } from '../stream/stream-info.ts';
import type { Http2Stats } from './codec-stats.ts';
import { ErrorCode, LARGEST_STREAM_ID } from './frames.ts';
import type { FieldSink } from './hpack/decoder.ts';
import type { Http2Stream } from './http2-stream.ts';
import type { Flood } from './limits/inbound-limits.ts';
import { KeepAlive, type KeepAliveTimes } from './keep-alive.ts';
import { MessageFields, type MessageLimits, SIZE_STATS } from './message-fields.ts';
import { PrematureResets } from './limits/premature-resets.ts';
import { Http2ServerStream } from './server-stream.ts';
import type { ServerStreamOwner } from './server-stream-owner.ts';
import { Http2Session } from './session.ts';
import type { SessionOptions, SessionUser } from './session-user.ts';
import { HTTP2_TRAITS } from './traits.ts';

/** What the codecs of one connection manager share. */
export interface Http2ServerParts {
  readonly session: SessionOptions;
  readonly message: MessageLimits;
  readonly endsStreamOnInvalidMessage: boolean;
  readonly stats: Http2Stats;
  readonly loop: Pick<WorkerLoop, 'clock' | 'current' | 'failed'>;
  readonly runtime: Runtime;
  readonly flushTimeout: TimerList | undefined;
  readonly keepAlive: KeepAliveTimes | undefined;
}

/** Envoy's words for floods; those of its codec library begin with `codec_error:`. */
const FLOOD_DETAILS: Readonly<Record<Flood, string>> = {
  empty_frames: 'http2.inbound_empty_frames_flood',
  priority_frames: 'codec_error:Too_many_PRIORITY_frames',
  window_update_frames: 'codec_error:Too_many_WINDOW_UPDATE_frames',
  outbound: 'codec_error:Too_many_frames_in_the_outbound_queue.',
  outbound_control: 'codec_error:Too_many_control_frames_in_the_outbound_queue.',
};

/** Envoy's words for a connection's fault: of the stream whose frame it was, and of all others. */
const UNKNOWN_ERROR = 'http2.unknown.nghttp2.error';
const USER_REFUSED = 'codec_error:The_user_callback_function_failed';

type EndReason = 'connection_termination' | 'protocol_error';

export class Http2ServerCodec implements ServerCodec, SessionUser, ServerStreamOwner {
  readonly protocol: Protocol = 'HTTP/2';
  readonly traits = HTTP2_TRAITS;
  readonly session: Http2Session;
  readonly fields: MessageFields;
  readonly #owner: ServerCodecOwner;
  readonly #parts: Http2ServerParts;
  readonly #resets: PrematureResets;
  readonly #keepAlive: KeepAlive | undefined;
  /** The last GOAWAY was sent: the connection ends with its last stream. */
  #isEnding = false;
  #isFinished = false;

  constructor(wire: Wire, owner: ServerCodecOwner, parts: Http2ServerParts) {
    this.#owner = owner;
    this.#parts = parts;
    this.session = new Http2Session(wire, this, parts.session);
    this.fields = new MessageFields(parts.message);
    this.#resets = new PrematureResets(parts.runtime);
    this.#keepAlive = parts.keepAlive && this.#makeKeepAlive(parts.keepAlive);
    parts.stats.begin();
    // Envoy's default codec library; operators watch for its name.
    parts.stats.count('nghttp2_downstream_connections');
  }

  get stats(): Http2Stats {
    return this.#parts.stats;
  }

  get endsStreamOnInvalidMessage(): boolean {
    return this.#parts.endsStreamOnInvalidMessage;
  }

  get flushTimeout(): TimerList | undefined {
    return this.#parts.flushTimeout;
  }

  get openStreams(): number {
    return this.session.table.open.size;
  }

  *decoders(): Generator<RequestDecoder> {
    for (let each = this.session.table.open.first; each !== undefined; each = each.next) {
      const decoder = each.user instanceof Http2ServerStream ? each.user.decoder : undefined;
      if (decoder !== undefined) yield decoder;
    }
  }

  onData(input: Buffer, start: number, end: number): void {
    this.session.onData(input, start, end);
  }

  onTransportClosed(): void {
    this.#isFinished = true;
    this.#keepAlive?.end();
    this.#endStreams('connection_termination');
  }

  onWriteBlocked(blocked: boolean): void {
    this.session.writer.onWireBlocked(blocked);
  }

  /** The last step of a drain. */
  startDrain(): void {
    if (this.#isEnding || this.session.isOver) return;
    this.#isEnding = true;
    this.stats.count('goaway_sent');
    this.#begin();
    this.session.finalGoaway();
  }

  /** The first step of a drain: requests that are on their way are still served. */
  announceClose(): void {
    // Counted once, with the last step.
    if (this.session.isOver) return;
    this.#begin();
    this.session.writer.goaway(LARGEST_STREAM_ID, ErrorCode.noError, '');
  }

  abort(): void {
    this.#finish('now');
  }

  stop(): void {
    this.#isFinished = true;
    this.#keepAlive?.end();
    this.session.stop();
  }

  onBlockBegin(_id: number, stream: Http2Stream | undefined): FieldSink {
    this.beforeDelivery();
    return this.fields.begin(stream === undefined ? 'request' : 'trailers');
  }

  openStream(id: number, wireBytes: number): Http2Stream {
    const stream = new Http2ServerStream(this, id, wireBytes, this.#parts.loop.clock.ms);
    this.stats.streamOpened();
    stream.begin(this.#owner.newStream(stream));
    return stream.stream;
  }

  onSettings(): void {
    // Windows, table and frame size are the session's; this side opens no streams.
  }

  onGoaway(): void {
    this.session.table.isPeerLeaving = true;
  }

  onPingAck(payload: string): void {
    this.#keepAlive?.onAck(payload);
  }

  beforeDelivery(): void {
    // What was worked for before has nothing to do with what comes now.
    this.#parts.loop.current = undefined;
  }

  onException(error: unknown, { user }: Http2Stream): void {
    this.#parts.loop.failed(error, user instanceof Http2ServerStream ? user : undefined);
  }

  onEmptyMetadata(): void {
    this.stats.count('metadata_empty_frames');
  }

  onSessionError(_details: string, culprit?: Http2Stream): void {
    this.#owner.onProtocolError();
    if (culprit?.user instanceof Http2ServerStream) {
      culprit.user.onConnectionEnd('protocol_error', UNKNOWN_ERROR);
    }
    this.#endStreams('protocol_error', USER_REFUSED);
    // Who has not begun in HTTP/2 understands no answer.
    this.#finish(this.session.hasBegun ? 'delayed' : 'now');
  }

  onFlood(flood: Flood): void {
    this.stats.countFlood(flood);
    this.#endStreams('protocol_error', FLOOD_DETAILS[flood]);
    // Who does not read is not waited for.
    const isOutbound = flood === 'outbound' || flood === 'outbound_control';
    this.#finish(isOutbound && this.session.writer.counts.isBlocked ? 'at_once' : 'now');
  }

  /** Nothing may be said before this side's part of the preface. */
  #begin(): void {
    const { session } = this;
    if (!session.hasBegun) this.onBegun();
    session.hasBegun = true;
  }

  onBegun(): void {
    this.session.start();
    this.#keepAlive?.start();
  }

  onRefused(): void {
    this.stats.count('stream_refused_errors');
  }

  onBlockTooLarge(): void {
    this.stats.count(SIZE_STATS.too_large);
  }

  onResetSent(): void {
    this.stats.count('tx_reset');
  }

  onResetReceived(): void {
    this.stats.count('rx_reset');
  }

  onPartsDropped(count: number): void {
    this.#owner.onPartsDropped(count);
  }

  noteStreamEnd({ openedMs }: { readonly openedMs: number }, isPremature: boolean): void {
    this.stats.streamClosed();
    this.#resets.note(isPremature ? this.#parts.loop.clock.ms - openedMs : undefined);
  }

  onStreamOver(): void {
    if (this.#isFinished) return;
    if (this.#resets.areTooMany) {
      this.#owner.onPrematureResets();
      this.#endStreams('connection_termination', 'too_many_premature_resets');
      this.#finish('now');
      return;
    }
    if (this.openStreams > 0) return;
    if (this.#isEnding) this.#finish('delayed');
    else this.#owner.onStreamEnd();
  }

  #finish(how: 'now' | 'delayed' | 'at_once'): void {
    if (this.#isFinished) return;
    this.stop();
    this.#owner.onCodecFinished(how);
  }

  #endStreams(reason: EndReason, details?: string): void {
    const failures: unknown[] = [];
    this.#endUnfinished(reason, details);
    this.session.onTransportClosed((stream) => {
      try {
        if (stream.user instanceof Http2ServerStream) stream.user.onConnectionEnd(reason, details);
      } catch (error) {
        failures.push(error);
      }
    });
    // The others have been told first.
    if (failures.length > 0) throw failures[0];
  }

  /** A request whose block has no end counts as one that was begun. */
  #endUnfinished(reason: EndReason, details: string | undefined): void {
    const { headers, table } = this.session;
    const id = headers.unfinishedStream;
    if (id === undefined) return;
    const { user } = this.openStream(id, 0);
    if (user instanceof Http2ServerStream) user.onConnectionEnd(reason, details);
    table.open.delete(id);
    headers.abandon();
  }

  #makeKeepAlive(times: KeepAliveTimes): KeepAlive {
    return new KeepAlive(times, {
      ping: (payload) => this.session.writer.ping(payload),
      onTimeout: () => {
        this.stats.count('keepalive_timeout');
        const details = 'downstream_local_disconnect(http2_ping_timeout)';
        this.#endStreams('connection_termination', details);
        this.#finish('at_once');
      },
      onException: () => this.#finish('at_once'),
    });
  }
}
