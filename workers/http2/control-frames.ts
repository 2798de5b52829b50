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
import type { Http2Stream } from './http2-stream.ts';
import type { Flood, InboundCounts } from './inbound-limits.ts';
import type { PeerSettings } from './peer-settings.ts';
import type { SessionUser } from './session-user.ts';
import type { StreamTable } from './stream-table.ts';

/** What these frames change; implemented by the session. */
export interface ControlledSession {
  readonly user: Pick<SessionUser, 'onSettings' | 'onGoaway' | 'onPingAck'>;
  readonly peer: PeerSettings;
  readonly table: StreamTable;
  readonly writer: FrameWriter;
  readonly counts: InboundCounts;
  readonly isOver: boolean;
  /** The peer has begun with SETTINGS. */
  sawSettings: boolean;
  /** The peer has confirmed this side's SETTINGS. */
  areSettingsAcknowledged: boolean;
  fail(code: number, details: string): false;
  refuseFrame(): false;
  flood(flood: Flood): false;
  streamError(stream: Http2Stream, code: number): void;
  onPeerReset(stream: Http2Stream, code: number): void;
}

export class ControlFrames {
  readonly #session: ControlledSession;

  constructor(session: ControlledSession) {
    this.#session = session;
  }

  onPriority(header: FrameHeader, input: Buffer, start: number): boolean {
    const session = this.#session;
    const { stream: id, length } = header;
    if (id === 0) return session.fail(ErrorCode.protocolError, 'PRIORITY: stream 0');
    const flood = session.counts.priorityFrame();
    if (flood !== undefined) return session.flood(flood);
    if (length !== 5) return session.fail(ErrorCode.frameSizeError, 'PRIORITY: invalid length');
    if (readNumber31(input, start) === id) {
      return session.fail(ErrorCode.protocolError, 'PRIORITY: depends on itself');
    }
    return true;
  }

  onReset(header: FrameHeader, input: Buffer, start: number): boolean {
    const session = this.#session;
    const { stream: id, length } = header;
    if (id === 0) return session.refuseFrame();
    if (length !== 4) return session.fail(ErrorCode.frameSizeError, '');
    const stream = session.table.open.get(id);
    if (stream === undefined) return session.table.wasOpen(id) || session.refuseFrame();
    session.onPeerReset(stream, input.readUInt32BE(start));
    return !session.isOver;
  }

  onSettings(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    const session = this.#session;
    const { stream: id, length, flags } = header;
    if (id !== 0) return session.refuseFrame();
    if ((flags & Flag.ack) !== 0) {
      if (length > 0) return session.fail(ErrorCode.frameSizeError, 'SETTINGS: ACK with a payload');
      session.areSettingsAcknowledged = true;
      return true;
    }
    if (length % 6 !== 0) return session.fail(ErrorCode.frameSizeError, '');
    session.sawSettings = true;
    const { peer, writer } = session;
    const refused = peer.read(input, start, end);
    if (refused !== undefined) {
      return refused.isQuiet ? session.refuseFrame() : session.fail(refused.code, refused.details);
    }
    if (!this.#changeWindows(peer.windowChange)) return false;
    writer.maxFrameBytes = peer.maxFrameSize;
    writer.encoder.limitTable(peer.headerTableSize);
    writer.control(SETTINGS_ACK);
    if (session.isOver) return false;
    session.user.onSettings(peer);
    if (peer.windowChange > 0) writer.drain();
    return !session.isOver;
  }

  #changeWindows(change: number): boolean {
    if (change === 0) return true;
    const { table, writer } = this.#session;
    for (const stream of table.open.values()) {
      if (stream.sendWindow.add(change)) {
        writer.streamWindowOpened(stream);
        continue;
      }
      return this.#session.fail(ErrorCode.flowControlError, 'SETTINGS: a window becomes too large');
    }
    return true;
  }

  onPing(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    const session = this.#session;
    if (header.stream !== 0) return session.refuseFrame();
    if (header.length !== 8) return session.fail(ErrorCode.frameSizeError, 'PING: invalid length');
    const payload = input.toString('latin1', start, end);
    if ((header.flags & Flag.ack) !== 0) session.user.onPingAck(payload);
    else session.writer.control(pingFrame(payload, true));
    return !session.isOver;
  }

  onGoaway(header: FrameHeader, input: Buffer, start: number): boolean {
    const session = this.#session;
    if (header.stream !== 0) return session.refuseFrame();
    if (header.length < 8) return session.fail(ErrorCode.frameSizeError, 'GOAWAY: invalid length');
    session.user.onGoaway(readNumber31(input, start), input.readUInt32BE(start + 4));
    return !session.isOver;
  }

  onWindowUpdate(header: FrameHeader, input: Buffer, start: number): boolean {
    const session = this.#session;
    const { stream: id, length } = header;
    if (length !== 4) return session.fail(ErrorCode.frameSizeError, 'WINDOW_UPDATE: bad length');
    const flood = session.counts.windowUpdateFrame();
    if (flood !== undefined) return session.flood(flood);
    const increment = readNumber31(input, start);
    if (increment === 0) return session.refuseFrame();
    if (id === 0) {
      if (!session.writer.window.add(increment)) {
        return session.fail(ErrorCode.flowControlError, 'WINDOW_UPDATE: the window is too large');
      }
      session.writer.drain();
      return !session.isOver;
    }
    const stream = session.table.open.get(id);
    if (stream === undefined) return session.table.wasOpen(id) || session.refuseFrame();
    if (!stream.sendWindow.add(increment)) {
      session.streamError(stream, ErrorCode.flowControlError);
    } else if (stream.waiting.bytes > 0) {
      session.writer.streamWindowOpened(stream);
      session.writer.drain();
    }
    return !session.isOver;
  }
}
