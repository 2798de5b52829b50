/**
 * Decompresses one body on zlib's threads and gives each piece on as soon as it is there. Bounded: it
 * asks for a pause while more than its limit waits, and fails for a body that grows beyond the ratio
 * that is allowed.
 */
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib';
import type { BrotliDecompress, Gunzip } from 'node:zlib';
import type { DecompressionLibrary } from '../../shared/resources/http-filters.ts';
import type { WorkerLoop } from '../worker-loop.ts';

/** Bytes that may wait for decompression before the sender is paused. */
const WAITING_LIMIT_BYTES = 65_536;

/** `early_end`: the body ended before its compressed data did. */
export type DecompressionFailure = 'wrong_data' | 'early_end' | 'too_large';

interface DecompressorOwner {
  onDecompressed(data: Buffer): void;
  /** Once, after the last piece. */
  onEnd(): void;
  onBacklog(isFull: boolean): void;
  /** Nothing follows. */
  onFailure(failure: DecompressionFailure): void;
}

export class BodyDecompressor {
  compressedBytes = 0;
  uncompressedBytes = 0;
  private readonly engine: Gunzip | BrotliDecompress;
  private readonly owner: DecompressorOwner;
  private readonly maxRatio: number;
  private isFull = false;

  constructor(library: DecompressionLibrary, loop: WorkerLoop, owner: DecompressorOwner) {
    this.owner = owner;
    this.maxRatio = library.maxRatio;
    this.engine = makeEngine(library);
    // None of these comes from within a call of ours: each is an event of the loop of its own.
    const inLoop = (act: () => void): void => {
      loop.enter();
      act();
      loop.leave();
    };
    this.engine.on('data', (data: Buffer) => inLoop(() => this.give(data)));
    this.engine.on('end', () => inLoop(() => owner.onEnd()));
    this.engine.on('drain', () => inLoop(() => this.setFull(false)));
    this.engine.on('error', (error: NodeJS.ErrnoException) =>
      inLoop(() => this.fail(error.code === 'Z_BUF_ERROR' ? 'early_end' : 'wrong_data')),
    );
  }

  /** `data` is copied. */
  write(data: Buffer): void {
    this.compressedBytes += data.length;
    if (data.length > 0 && !this.engine.write(Buffer.from(data))) this.setFull(true);
  }

  end(): void {
    this.engine.end();
  }

  /** Nothing is called afterwards. */
  destroy(): void {
    this.engine.removeAllListeners('data');
    this.engine.removeAllListeners('end');
    this.engine.removeAllListeners('drain');
    this.engine.destroy();
    this.setFull(false);
  }

  private give(data: Buffer): void {
    this.uncompressedBytes += data.length;
    if (this.uncompressedBytes > this.compressedBytes * this.maxRatio) this.fail('too_large');
    else this.owner.onDecompressed(data);
  }

  private fail(failure: DecompressionFailure): void {
    this.destroy();
    this.owner.onFailure(failure);
  }

  private setFull(isFull: boolean): void {
    if (this.isFull === isFull) return;
    this.isFull = isFull;
    this.owner.onBacklog(isFull);
  }
}

function makeEngine({
  kind,
  chunkBytes,
  windowBits,
}: DecompressionLibrary): Gunzip | BrotliDecompress {
  const options = { chunkSize: chunkBytes, writableHighWaterMark: WAITING_LIMIT_BYTES };
  if (kind === 'brotli') {
    return createBrotliDecompress({ ...options, flush: constants.BROTLI_OPERATION_FLUSH });
  }
  return createGunzip({ ...options, windowBits, flush: constants.Z_SYNC_FLUSH });
}
