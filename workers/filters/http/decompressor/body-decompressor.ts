/** Decompresses one body, and fails for one that grows beyond the ratio that is allowed. */
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib';
import type { BrotliDecompress, Gunzip } from 'node:zlib';
import type { DecompressionLibrary } from '../../../../shared/resources/filters/http/decompressor.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import { ZLIB_WAITING_LIMIT, ZlibBody } from '../../common/zlib-body.ts';

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
  private readonly body: ZlibBody;
  private readonly owner: DecompressorOwner;
  private readonly maxRatio: number;

  constructor(library: DecompressionLibrary, loop: WorkerLoop, owner: DecompressorOwner) {
    this.owner = owner;
    this.maxRatio = library.maxRatio;
    this.body = new ZlibBody(makeEngine(library), loop, {
      onData: (data) => this.give(data),
      onEnd: () => owner.onEnd(),
      onBacklog: (isFull) => owner.onBacklog(isFull),
      onException: () => this.fail('wrong_data'),
      onError: ({ code }) => this.fail(code === 'Z_BUF_ERROR' ? 'early_end' : 'wrong_data'),
    });
  }

  /** `data` is copied. */
  write(data: Buffer): void {
    this.compressedBytes += data.length;
    this.body.write(data);
  }

  end(): void {
    this.body.end();
  }

  /** Nothing is called afterwards. */
  destroy(): void {
    this.body.destroy();
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
}

function makeEngine({
  kind,
  chunkBytes,
  windowBits,
}: DecompressionLibrary): Gunzip | BrotliDecompress {
  const options = { chunkSize: chunkBytes, ...ZLIB_WAITING_LIMIT };
  if (kind === 'brotli') {
    return createBrotliDecompress({ ...options, flush: constants.BROTLI_OPERATION_FLUSH });
  }
  return createGunzip({ ...options, windowBits, flush: constants.Z_SYNC_FLUSH });
}
