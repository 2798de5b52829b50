/**
 * One stream of an HTTP/2 connection (RFC 9113 section 5.1) as the session keeps it: which
 * directions are open, its windows, and what waits to be sent. What its messages mean is its
 * user's.
 */
import type { Member } from '../loop/members.ts';
import type { Metadata } from '../stream/codec.ts';
import { ReceiveWindow, SendWindow, WaitingData } from './flow-control.ts';
import type { HeaderBlock } from './header-block.ts';

/** What a stream tells its owner. */
export interface StreamUser {
  /** A view that is valid during the call; empty only with `endStream`. */
  onData(data: Buffer, endStream: boolean): void;
  /** A whole header block came, whose fields went to the sink that `onBlockBegin` gave. */
  onHeaders(endStream: boolean): void;
  /** The stream is over before both sides have ended it; nothing follows. */
  onReset(code: number, isRemote: boolean): void;
  /** What was written waits: `true` above the limit, `false` once most of it is gone. */
  onWriteBlocked(blocked: boolean): void;
  /** This side's end was written, but the peer's has not come. */
  onLocalEnd?(): void;
  /** A whole block of METADATA; never empty. */
  onMetadata?(metadata: Metadata): void;
  /** Both directions ended in good order; nothing follows. */
  onClosed(): void;
}

/** A stream's place among those whose data takes turns. */
export class SendTurn implements Member<SendTurn> {
  next: SendTurn | undefined = undefined;
  previous: SendTurn | undefined = undefined;
  readonly stream: Http2Stream;

  constructor(stream: Http2Stream) {
    this.stream = stream;
  }
}

export class Http2Stream {
  readonly id: number;
  readonly user: StreamUser;
  readonly sendWindow: SendWindow;
  readonly receiveWindow: ReceiveWindow;
  /** Its neighbours among the open streams of its connection. */
  next: Http2Stream | undefined = undefined;
  previous: Http2Stream | undefined = undefined;
  /** True when the peer's headers have come. */
  hasHeaders = false;
  isLocalEnded = false;
  isRemoteEnded = false;
  /** Over for the session: its user hears nothing more. */
  isClosed = false;
  /** For a window or for the wire. */
  readonly waiting = new WaitingData();
  /** Absent until data waits: most streams' never does. */
  sendTurn: SendTurn | undefined = undefined;
  /** Behind what waits: the end of the stream, or a block of trailers that ends it. */
  waitingEnd: 'none' | 'data' | 'trailers' = 'none';
  /** Writes the trailers that wait. */
  writeTrailers: (() => void) | undefined = undefined;
  isBlocked = false;
  /** METADATA whose end has not come. */
  metadata: HeaderBlock | undefined = undefined;
  /** Counted: its data is not acknowledged while this is above 0. */
  pauses = 0;
  /** Bytes that came while it was paused. */
  unacknowledged = 0;
  /** Bytes on the wire that were this stream's, frame headers included. */
  headerBytesReceived = 0;
  wireBytesReceived = 0;
  headerBytesSent = 0;
  wireBytesSent = 0;

  constructor(id: number, user: StreamUser, sendWindow: number, receiveWindow: number) {
    this.id = id;
    this.user = user;
    this.sendWindow = new SendWindow(sendWindow);
    this.receiveWindow = new ReceiveWindow(receiveWindow);
  }
}
