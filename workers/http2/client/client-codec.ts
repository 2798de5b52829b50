/**
 * The client side of one HTTP/2 connection: opens streams for requests, and says what the host
 * wants of the connection. How many streams it carries at the same time is its owner's decision.
 */
import type { Http2Options } from '../../../shared/resources/http2-options.ts';
import type { Endable } from '../../../shared/process/exceptions.ts';
import type { TimerList } from '../../loop/timers.ts';
import type { Wire } from '../../net/wire.ts';
import type { ResetReason, ResponseDecoder } from '../../stream/codec.ts';
import { type ClientConnection, ClientStream } from './client-stream.ts';
import type { Http2Stats } from '../codec-stats.ts';
import { ErrorCode, Setting } from '../frames.ts';
import { HostPause } from './host-pause.ts';
import { mostBlockBytes } from '../header-block.ts';
import type { FieldSink } from '../hpack/decoder.ts';
import type { Http2Stream } from '../http2-stream.ts';
import type { Flood } from '../limits/inbound-limits.ts';
import { type MessageFault, MessageFields, SIZE_STATS } from '../message-fields.ts';
import type { PeerSettings } from '../peer-settings.ts';
import { Http2Session } from '../session.ts';
import type { SessionUser } from '../session-user.ts';

/** Streams that a host takes at least while it has not said how many (RFC 9113 section 6.5.2). */
export const STREAMS_UNTIL_SETTINGS = 100;

export interface Http2ClientLimits {
  readonly options: Http2Options;
  readonly maxHeaderBytes: number;
  readonly maxHeaderCount: number;
  /** Bytes of one request that may wait for its host. */
  readonly streamBufferBytes: number;
  readonly isOwnRequest: boolean;
  /** How long a host is not read from while nobody takes what it sends. */
  readonly hostPause: TimerList;
}

export interface Http2ClientOwner {
  /** An exchange is over, in whatever way. */
  onExchangeOver(): void;
  /** The host carries so many streams at the same time. */
  onMaxStreams(count: number): void;
  /** The host takes no further stream. */
  onGoaway(): void;
  onPingAck(payload: string): void;
  /** The host broke the protocol: the connection has to end, and its exchanges with it. */
  onProtocolError(details: string): void;
  /** Code that worked for one exchange threw: that one ends. */
  onStreamException(error: unknown, stream: Endable | undefined): void;
  /** A stream was reset: by its host, or by this side for the host's fault or the client's wish. */
  onStreamReset(by: 'host' | 'us'): void;
}

export class Http2ClientCodec implements SessionUser, ClientConnection {
  readonly session: Http2Session;
  readonly fields: MessageFields;
  readonly isOwnRequest: boolean;
  readonly #owner: Http2ClientOwner;
  readonly #options: Http2Options;
  readonly stats: Http2Stats;
  /** Whose the resets count as that are sent: what is too large is the host's, as in Envoy. */
  #resetsFor: 'host' | 'us' = 'us';
  readonly #wire: Wire;
  readonly #hostPauseLimit: TimerList;
  /** Absent until a stream is paused. */
  #hostPause: HostPause | undefined = undefined;

  constructor(
    wire: Wire,
    owner: Http2ClientOwner,
    stats: Http2Stats,
    { options, ...limits }: Http2ClientLimits,
  ) {
    const { maxHeaderBytes, maxHeaderCount } = limits;
    this.#owner = owner;
    this.#wire = wire;
    this.#hostPauseLimit = limits.hostPause;
    this.#options = options;
    this.stats = stats;
    this.isOwnRequest = limits.isOwnRequest;
    this.fields = new MessageFields({ maxHeaderBytes, maxHeaderCount, allowConnect: false });
    this.session = new Http2Session(wire, this, {
      isServer: false,
      settings: clientSettings(options),
      headerTableSize: options.headerTableSize,
      maxConcurrentStreams: 0,
      streamWindow: options.streamWindowBytes,
      connectionWindow: options.connectionWindowBytes,
      maxBlockBytes: mostBlockBytes(maxHeaderBytes),
      maxOutboundFrames: options.maxOutboundFrames,
      maxOutboundControlFrames: options.maxOutboundControlFrames,
      streamBufferBytes: limits.streamBufferBytes,
      maxMetadataBytes: options.maxMetadataBytes,
      maxConsecutiveEmptyFrames: options.maxConsecutiveEmptyFrames,
      maxPriorityFramesPerStream: options.maxPriorityFramesPerStream,
      maxWindowUpdatesPerDataFrame: options.maxWindowUpdatesPerDataFrame,
      maxHeaderTextBytes: options.maxHeaderTextBytes,
      usesHuffman: options.usesHuffman,
    });
  }

  /** Says what this side wants: the first bytes of the connection. */
  start(): void {
    this.session.start();
  }

  get openStreams(): number {
    return this.session.table.open.size;
  }

  newStream(decoder: ResponseDecoder): ClientStream {
    this.stats.streamOpened();
    return new ClientStream(this, decoder);
  }

  onData(input: Buffer, start: number, end: number): void {
    this.session.onData(input, start, end);
  }

  onWriteBlocked(blocked: boolean): void {
    this.session.writer.onWireBlocked(blocked);
  }

  /** The connection is gone: its exchanges hear why. */
  onTransportClosed(reason: ResetReason): void {
    this.session.onTransportClosed(({ user }) => {
      if (user instanceof ClientStream) user.fail(reason);
    });
  }

  /** A PING is answered soon, whoever takes what comes before the answer. */
  ping(payload: string): void {
    this.session.writer.ping(payload);
    this.#hostPause?.readOn();
  }

  onStreamOpen(): void {
    this.#hostPause?.weigh(this.openStreams);
  }

  onStreamPaused(paused: boolean): void {
    this.#hostPause ??= new HostPause(this.#wire, this.#hostPauseLimit);
    this.#hostPause.change(paused, this.openStreams);
  }

  onBlockBegin(_: number, stream: Http2Stream | undefined): FieldSink {
    const user = stream?.user;
    return this.fields.begin(user instanceof ClientStream ? user.awaits : 'response');
  }

  /** Hosts open none: push is switched off. */
  openStream(): undefined {
    return undefined;
  }

  onSettings({ maxConcurrentStreams }: PeerSettings): void {
    this.#owner.onMaxStreams(maxConcurrentStreams);
  }

  onGoaway(lastStream: number): void {
    const dropped = this.session.dropAbove(lastStream);
    // First of all: who is tried again must not come back here.
    this.#owner.onGoaway();
    for (const { user } of dropped) {
      if (user instanceof ClientStream) user.fail('remote_refused_stream');
    }
  }

  onPingAck(payload: string): void {
    this.#owner.onPingAck(payload);
  }

  onException(error: unknown, { user }: Http2Stream): void {
    this.#owner.onStreamException(error, user instanceof ClientStream ? user : undefined);
  }

  onEmptyMetadata(): void {
    this.stats.count('metadata_empty_frames');
  }

  onSessionError(details: string): void {
    this.#owner.onProtocolError(details);
  }

  onFlood(flood: Flood): void {
    this.stats.countFlood(flood);
    this.#owner.onProtocolError(`http2.${flood}_flood`);
  }

  onBlockTooLarge(): void {
    this.stats.count(SIZE_STATS.too_large);
  }

  onResetSent(): void {
    this.stats.count('tx_reset');
    this.#owner.onStreamReset(this.#resetsFor);
  }

  onResetReceived(_: Http2Stream, code: number): void {
    this.stats.count('rx_reset');
    if (code === ErrorCode.refusedStream) return;
    // As in Envoy: a host that finds a fault in the protocol is taken for one that was found in it.
    this.#owner.onStreamReset(code === ErrorCode.protocolError ? 'us' : 'host');
  }

  onStreamOver(): void {
    this.stats.streamClosed();
    this.#hostPause?.weigh(this.openStreams);
    this.#owner.onExchangeOver();
  }

  onBadMessage(stream: ClientStream, { kind, details }: MessageFault): void {
    if (kind !== 'invalid') {
      this.stats.count(SIZE_STATS[kind]);
      this.#resetsFor = 'host';
      stream.refuse(ErrorCode.internalError, 'remote_reset');
      this.#resetsFor = 'us';
      return;
    }
    this.stats.count('rx_messaging_error');
    if (this.#options.endsStreamOnInvalidMessage) {
      stream.refuse(ErrorCode.protocolError, 'protocol_error');
    } else this.#owner.onProtocolError(details);
  }
}

/** As Envoy's client sends them: its own first, then what the operator adds. */
function clientSettings(options: Http2Options): readonly (readonly [id: number, value: number])[] {
  const own: readonly (readonly [id: number, value: number])[] = [
    [Setting.enablePush, 0],
    [Setting.headerTableSize, options.headerTableSize],
    [Setting.enableConnectProtocol, options.allowConnect ? 1 : 0],
    [Setting.maxConcurrentStreams, options.maxConcurrentStreams],
    [Setting.initialWindowSize, options.streamWindowBytes],
  ];
  const custom = new Map(options.customSettings);
  return [...own.filter(([id]) => !custom.has(id)), ...custom];
}
