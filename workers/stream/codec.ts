/**
 * The seam between codecs and those who use them. The connection manager and the router see
 * messages as header maps, body pieces and trailers, whichever protocol carried them.
 *
 * Body pieces are views into a buffer that the next read overwrites: valid during the call only.
 * Who keeps a piece copies it.
 */
import type { Wire } from '../net/wire.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import type { HeaderMap } from './header-map.ts';
import type { ProtocolTraits } from './protocol-traits.ts';
import type { Protocol } from './stream-info.ts';

/** Why a stream ended before its messages were complete. */
export type ResetReason =
  | 'local_reset'
  | 'remote_reset'
  /** The peer did nothing of the request, and says so. */
  | 'remote_refused_stream'
  | 'connection_failure'
  /** This side of the connection could not be made. */
  | 'local_connection_failure'
  | 'connection_timeout'
  | 'connection_termination'
  | 'overflow'
  /** There may be no further pool of connections. */
  | 'no_pool'
  | 'protocol_error'
  | 'drain';

/**
 * What is said beside a message, by METADATA frames of HTTP/2: names and values are bytes as latin-1.
 * No filter sees it.
 */
export type Metadata = ReadonlyMap<string, string>;

/** Receives one request; implemented by the connection manager's stream. */
export interface RequestDecoder {
  decodeHeaders(headers: HeaderMap, endStream: boolean): void;
  decodeData(data: Buffer, endStream: boolean): void;
  decodeTrailers(trailers: HeaderMap): void;
  decodeMetadata?(metadata: Metadata): void;
  /** Code that worked for the request threw. */
  onException?(): void;
  /** The client waits for `100 Continue`. Called before decodeHeaders. */
  onExpectContinue(): void;
  /** The request is refused by the codec, before or after its headers; nothing of it follows. */
  onCodecError(status: number, details: string, body: string): void;
  /**
   * The stream is over without a complete exchange; nothing follows. `details` is what the codec
   * has to say of it for logs.
   */
  onReset(reason: ResetReason, details?: string): void;
  /** What was written for this stream waits: `true` above the limit, `false` once it is gone. */
  onWriteBlocked(blocked: boolean): void;
}

/** Faults of a message that are found by policy, and worded by its protocol. */
export type MessageFault = 'unexpected_underscore';

/** Sends one response; implemented by the codec, valid until the stream is over on both sides. */
export interface ResponseEncoder {
  /** An informational response; any number may come before encodeHeaders. */
  encode1xx(headers: HeaderMap): void;
  encodeHeaders(headers: HeaderMap, endStream: boolean): void;
  encodeData(data: Buffer, endStream: boolean): void;
  encodeTrailers(trailers: HeaderMap): void;
  /** Absent where the protocol has none. */
  encodeMetadata?(metadata: Metadata): void;
  /** Ends the stream at once; the peer sees an incomplete message. */
  resetStream(): void;
  /**
   * The message must not be taken, for a reason that is the protocol's: the codec answers or resets,
   * and tells the decoder. `endsConnection`: where one message can end it.
   */
  refuseMessage(fault: MessageFault, endsConnection: boolean): void;
  /** Counted: reading goes on when every `true` has had its `false`. */
  pauseRequest(paused: boolean): void;
  /** Wire bytes of this stream so far, for the access log. */
  readonly headerBytesReceived: number;
  readonly wireBytesReceived: number;
  readonly headerBytesSent: number;
  readonly wireBytesSent: number;
}

/** Receives one response; implemented by the router's upstream request. */
export interface ResponseDecoder {
  decode1xx(headers: HeaderMap): void;
  decodeHeaders(headers: HeaderMap, endStream: boolean): void;
  decodeData(data: Buffer, endStream: boolean): void;
  decodeTrailers(trailers: HeaderMap): void;
  decodeMetadata?(metadata: Metadata): void;
  onReset(reason: ResetReason): void;
  onWriteBlocked(blocked: boolean): void;
}

/** Sends one request; implemented by the codec. */
export interface RequestEncoder {
  /**
   * Gives why the request must not leave (`requestFault` of message-door.ts): then nothing was
   * written, the exchange is over and the decoder hears nothing of it.
   */
  encodeHeaders(headers: HeaderMap, endStream: boolean): string | undefined;
  encodeData(data: Buffer, endStream: boolean): void;
  encodeTrailers(trailers: HeaderMap): void;
  /** Behind the headers; absent where the protocol has none. */
  encodeMetadata?(metadata: Metadata): void;
  /** Gives the exchange up; the decoder hears nothing more. */
  resetStream(): void;
  pauseResponse(paused: boolean): void;
}

/** What a server codec tells its connection. */
export interface ServerCodecOwner {
  /** A request begins: its first byte was read. */
  newStream(encoder: ResponseEncoder): RequestDecoder;
  /** So many parts of an answer were not sent, because nothing of their kind may leave. */
  onPartsDropped(count: number): void;
  /** The protocol is known: from now on `codec` stands for the connection, and reads this first. */
  onCodecChosen(codec: ServerCodec, input: Buffer, start: number, end: number): void;
  /** A stream is over for the codec; it may have been over for its decoder before. */
  onStreamEnd(): void;
  /** The client broke the protocol: the connection ends. */
  onProtocolError(): void;
  /** The client begins requests only to reset them. */
  onPrematureResets(): void;
  /**
   * No request is open any more and the codec wants the connection closed. `at_once`: without what
   * still waits to be written.
   */
  onCodecFinished(how: 'now' | 'delayed' | 'at_once'): void;
}

/** Makes one downstream connection's codec; called when the connection is accepted. */
export type ServerCodecFactory = (
  wire: Wire,
  owner: ServerCodecOwner,
  info: ConnectionInfo,
) => ServerCodec;

/** One downstream connection's codec. */
export interface ServerCodec {
  /** Undefined while it is not known. */
  readonly protocol: Protocol | undefined;
  readonly traits: ProtocolTraits | undefined;
  /** `input` from `start` to `end`; the memory belongs to the caller again afterwards. */
  onData(input: Buffer, start: number, end: number): void;
  /** The transport is gone; resets the open streams. */
  onTransportClosed(): void;
  onWriteBlocked(blocked: boolean): void;
  /**
   * Says goodbye in the protocol's way: the next response closes the connection, or the last GOAWAY is
   * sent. `isOurs`: this side closes as soon as the response has left; otherwise the client may do it first.
   */
  startDrain(isOurs: boolean): void;
  /**
   * From now on responses ask the client to close, or a first GOAWAY does; the caller closes when it
   * does not.
   */
  announceClose(): void;
  /** Answers what comes, or the open request, with 500, and closes. */
  abort(): void;
  /** Takes no further request; the owner is about to close. */
  stop(): void;
  readonly openStreams: number;
  /** Who receives the open requests; absent where only one can be open. */
  decoders?(): Iterable<RequestDecoder>;
}
