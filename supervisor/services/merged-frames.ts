/**
 * Keeps the transport of gRPC from holding a message in as many buffers as it has frames: a message
 * of one-byte frames would take a hundred times its size until it is whole, and the limit of
 * messages is no limit of memory. The transport's own decoder is followed, not replaced.
 */

/** Pieces that are merged at once, and how small they have to be together. */
const PIECES = 256;
const MERGED_BYTES_MAX = PIECES * 1024;

interface Decoder {
  write: (this: Decoder, data: Buffer) => Buffer[];
  /** Pieces of the message that is not whole yet; another list for each message. */
  readonly readPartialMessage: Buffer[];
}

const patched = new WeakSet<object>();

/** Merges frames in the whole process; later calls do nothing. */
export async function mergeFrames(): Promise<void> {
  // It is none of the transport's exports.
  // oxlint-disable-next-line no-restricted-imports
  const transport: unknown = await import('@grpc/grpc-js/build/src/stream-decoder.js');
  const { StreamDecoder } = transport as {
    readonly StreamDecoder: { readonly prototype: Decoder };
  };
  const { prototype } = StreamDecoder;
  if (patched.has(prototype)) return;
  patched.add(prototype);
  const { write } = prototype;
  /** Pieces at the beginning of a list that stay as they are. */
  const settled = new WeakMap<Buffer[], number>();
  prototype.write = function merging(data) {
    const messages = write.call(this, data);
    const { readPartialMessage: pieces } = this;
    const from = settled.get(pieces) ?? 0;
    if (pieces.length - from >= PIECES) settled.set(pieces, mergeTail(pieces, from));
    return messages;
  };
}

/** Returns how many pieces need not be looked at again. */
function mergeTail(pieces: Buffer[], from: number): number {
  const tail = pieces.slice(from);
  const bytes = tail.reduce((sum, piece) => sum + piece.length, 0);
  if (bytes > MERGED_BYTES_MAX) return pieces.length;
  pieces.length = from;
  pieces.push(Buffer.concat(tail, bytes));
  return pieces.length;
}
