/**
 * METADATA, Envoy's own frame (type 0x4d): names and values beside a message, as a header block of
 * its own that needs no table. Gathers a block per stream, decodes it, writes one. Frames of streams
 * that are not open, or that the peer has ended, say nothing to anybody.
 */
import type { FrameHeader } from '../frame-reader.ts';
import { DEFAULT_MAX_FRAME_BYTES, Flag, frameHeader, FrameType } from '../frames.ts';
import type { FrameWriter } from '../frame-writer.ts';
import { HeaderBlock } from '../header-block.ts';
import { HpackDecoder, HpackError } from '../hpack/decoder.ts';
import { HpackEncoder } from '../hpack/encoder.ts';
import type { Http2Stream } from '../http2-stream.ts';
import type { StreamTable } from '../stream-table.ts';
import type { Metadata } from '../../stream/codec.ts';

/** Its blocks use no table, here or behind. */
const NO_TABLE = 0;

/** Implemented by the session. */
export interface MetadataReceiver {
  readonly user: { onEmptyMetadata(): void };
  readonly table: StreamTable;
  readonly writer: FrameWriter;
  readonly isOver: boolean;
  refuseFrame(culprit?: Http2Stream): false;
}

export class MetadataFrames {
  readonly #session: MetadataReceiver;
  readonly #maxBytes: number;

  constructor(session: MetadataReceiver, maxBytes: number) {
    this.#session = session;
    this.#maxBytes = maxBytes;
  }

  /** False: the connection is over. */
  onFrame({ stream: id, flags }: FrameHeader, input: Buffer, start: number, end: number): boolean {
    const session = this.#session;
    const stream = session.table.open.get(id);
    if (stream === undefined || stream.isRemoteEnded) return true;
    // No other flag has a meaning, and as in Envoy one that has others too is not the last.
    const isLast = flags === Flag.endMetadata;
    const block = (stream.metadata ??= new HeaderBlock(this.#maxBytes));
    if (!block.isOpen) block.begin(id, false);
    if (!block.add(input, start, end, isLast)) return session.refuseFrame();
    if (!isLast) return true;
    stream.metadata = undefined;
    const metadata = decode(block);
    if (metadata === undefined) return session.refuseFrame();
    if (metadata.size === 0) session.user.onEmptyMetadata();
    else stream.user.onMetadata?.(metadata);
    return !session.isOver;
  }

  /** Beside what was written of the stream. */
  send(stream: Http2Stream, metadata: Metadata): void {
    if (stream.isClosed || stream.isLocalEnded) return;
    this.#session.writer.plain(metadataFrames(stream.id, metadata));
  }
}

/** Undefined for a block that is none. Of equal names the first one counts. */
function decode(block: HeaderBlock): Metadata | undefined {
  const { bytes, start, end } = block.take();
  const metadata = new Map<string, string>();
  const onField = (name: string, value: string): void => {
    if (!metadata.has(name)) metadata.set(name, value);
  };
  try {
    new HpackDecoder(NO_TABLE, bytes.length).decode(bytes, start, end, { onField });
  } catch (error) {
    if (error instanceof HpackError) return undefined;
    throw error;
  }
  return metadata;
}

/** A block of any length as frames. */
function metadataFrames(stream: number, metadata: Metadata): string {
  const encoder = new HpackEncoder();
  encoder.begin();
  for (const [name, value] of metadata) encoder.literal(name, value);
  const block = encoder.finish();
  let frames = '';
  for (let at = 0; at < block.length; at += DEFAULT_MAX_FRAME_BYTES) {
    const piece = block.slice(at, at + DEFAULT_MAX_FRAME_BYTES);
    const isLast = at + piece.length === block.length;
    const flags = isLast ? Flag.endMetadata : 0;
    frames += frameHeader(piece.length, FrameType.metadata, flags, stream) + piece;
  }
  return frames;
}
