/**
 * What the frames of an HTTP/2 connection mean that carry no part of a message (RFC 9113 sections
 * 6.3 to 6.9): PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE. Each method gives false
 * when the connection is over.
 *
 * A frame that Envoy's codec hears of as invalid ends the connection without a word, as there;
 * other faults send GOAWAY with their code.
 */
import type { FrameHeader } from './frame-reader.ts';
import type { FrameWriter } from './frame-writer.ts';
import { ErrorCode, Flag, pingFrame, readNumber31, SETTINGS_ACK } from './frames.ts';
import type { HeaderFrames } from './header-frames.ts';
import type { Http2Stream } from './http2-stream.ts';
import type { Flood, InboundCounts } from './limits/inbound-limits.ts';
import type { PeerSettings } from './peer-settings.ts';
import type { ReadTurn } from './input/read-turn.ts';
import type { SessionOptions, SessionUser } from './session-user.ts';
import type { StreamTable } from './stream-table.ts';

/** Settings in one frame, as many as Envoy's codec library takes. */
const MAX_SETTINGS = 32;

/** What these frames change; implemented by the session. */
export interface ControlledSession {
  readonly user: Pick<SessionUser, 'onSettings' | 'onGoaway' | 'onPingAck'>;
  readonly peer: PeerSettings;
  readonly table: StreamTable;
  readonly writer: FrameWriter;
  readonly counts: InboundCounts;
  readonly headers: Pick<HeaderFrames, 'limitTable'>;
  readonly options: Pick<SessionOptions, 'headerTableSize'>;
  readonly isOver: boolean;
  readonly turn: Pick<ReadTurn, 'endedStreams'>;
  /** The peer has begun with SETTINGS. */
  sawSettings: boolean;
  /** The peer has confirmed this side's SETTINGS. */
  areSettingsAcknowledged: boolean;
  fail(code: number, details: string): false;
  refuseFrame(culprit?: Http2Stream): false;
  flood(flood: Flood): false;
  onPeerReset(stream: Http2Stream, code: number): void;
}

export class ControlFrames {
  readonly #session: ControlledSession;

  constructor(session: ControlledSession) {
    this.#session = session;
  }

  onPriority(header: FrameHeader): boolean {
    const session = this.#session;
    const flood = session.counts.priorityFrame();
    if (flood !== undefined) return session.flood(flood);
    // What depends on what is of no interest, not even where it makes no sense.
    return header.length === 5 || session.fail(ErrorCode.frameSizeError, '');
  }

  onReset(header: FrameHeader, input: Buffer, start: number): boolean {
    const session = this.#session;
    const { stream: id, length } = header;
    if (id === 0) return session.refuseFrame();
    if (length !== 4) return session.fail(ErrorCode.frameSizeError, '');
    const stream = session.table.open.get(id);
    if (stream === undefined && !session.table.wasOpen(id)) return session.refuseFrame();
    if (stream !== undefined) session.onPeerReset(stream, input.readUInt32BE(start));
    if (session.isOver) return false;
    return session.counts.resetFrame() || session.fail(ErrorCode.internalError, '');
  }

  onSettings(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    const session = this.#session;
    const { stream: id, length, flags } = header;
    if ((flags & Flag.ack) !== 0) return this.#onAcknowledged(header);
    if (length % 6 !== 0) return session.fail(ErrorCode.frameSizeError, '');
    if (id !== 0) return session.refuseFrame(session.table.open.get(id));
    if (length / 6 > MAX_SETTINGS) {
      return session.fail(ErrorCode.enhanceYourCalm, 'SETTINGS: too many setting entries');
    }
    session.sawSettings = true;
    const { peer, writer } = session;
    if (!peer.read(input, start, end)) return session.refuseFrame();
    if (!this.#changeWindows(peer.windowChange)) return false;
    writer.maxFrameBytes = peer.maxFrameSize;
    writer.encoder.limitTable(peer.headerTableSize);
    writer.control(SETTINGS_ACK);
    if (session.isOver) return false;
    session.user.onSettings(peer);
    if (peer.windowChange > 0) writer.drain();
    return !session.isOver;
  }

  #onAcknowledged({ stream: id, length }: FrameHeader): boolean {
    const session = this.#session;
    if (length > 0) return session.fail(ErrorCode.frameSizeError, '');
    if (id !== 0) return session.refuseFrame(session.table.open.get(id));
    // This side sends its settings once.
    if (session.areSettingsAcknowledged) return session.refuseFrame();
    session.areSettingsAcknowledged = true;
    session.headers.limitTable(session.options.headerTableSize);
    return true;
  }

  #changeWindows(change: number): boolean {
    if (change === 0) return true;
    const { table, writer } = this.#session;
    for (let stream = table.open.first; stream !== undefined; stream = stream.next) {
      if (!stream.sendWindow.add(change)) return this.#session.refuseFrame(stream);
      writer.streamWindowOpened(stream);
    }
    return true;
  }

  onPing(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    const session = this.#session;
    const { stream: id } = header;
    if (header.length !== 8) return session.fail(ErrorCode.frameSizeError, '');
    if (id !== 0) return session.refuseFrame(session.table.open.get(id));
    const payload = input.toString('latin1', start, end);
    if ((header.flags & Flag.ack) !== 0) session.user.onPingAck(payload);
    else session.writer.control(pingFrame(payload, true));
    return !session.isOver;
  }

  onGoaway(header: FrameHeader, input: Buffer, start: number): boolean {
    const session = this.#session;
    const { stream: id } = header;
    if (header.length < 8) return session.fail(ErrorCode.frameSizeError, '');
    if (id !== 0) return session.refuseFrame(session.table.open.get(id));
    session.user.onGoaway(readNumber31(input, start), input.readUInt32BE(start + 4));
    return !session.isOver;
  }

  onWindowUpdate(header: FrameHeader, input: Buffer, start: number): boolean {
    const session = this.#session;
    const { stream: id, length } = header;
    if (length !== 4) return session.fail(ErrorCode.frameSizeError, '');
    const flood = session.counts.windowUpdateFrame(
      session.table.open.size + session.turn.endedStreams,
    );
    if (flood !== undefined) return session.flood(flood);
    const increment = readNumber31(input, start);
    if (increment === 0) return session.refuseFrame(session.table.open.get(id));
    if (id === 0) {
      if (!session.writer.window.add(increment)) {
        return session.refuseFrame();
      }
      session.writer.drain();
      return !session.isOver;
    }
    const stream = session.table.open.get(id);
    if (stream === undefined) return session.table.wasOpen(id) || session.refuseFrame();
    if (!stream.sendWindow.add(increment)) {
      return session.refuseFrame(stream);
    }
    if (stream.waiting.bytes > 0) {
      session.writer.streamWindowOpened(stream);
      session.writer.drain();
    }
    return !session.isOver;
  }
}
