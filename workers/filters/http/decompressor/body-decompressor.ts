/** Decompresses one body, and fails for one that grows beyond the ratio that is allowed. */
import { KindTable } from '../../../../shared/resources/by-kind.ts';
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib';
import { assert } from '../../../../shared/process/assert.ts';
import type { Transform } from 'node:stream';
import { zstd } from '../../../../shared/process/zstd.ts';
import type { DecompressionLibrary } from '../../../../shared/resources/filters/http/decompressor.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import { ZLIB_WAITING_LIMIT, ZlibBody } from '../../common/zlib-body.ts';

/** `early_end`: the body ended before its compressed data did. */
export type DecompressionFailure =
  | 'wrong_data'
  | 'wrong_checksum'
  | 'wrong_dictionary'
  | 'no_memory'
  | 'early_end'
  | 'too_large';

/** By the codes of the runtime's errors; all others are wrong data. */
const FAILURES = new Map<string | undefined, DecompressionFailure>([
  ['Z_BUF_ERROR', 'early_end'],
  ['ZSTD_error_checksum_wrong', 'wrong_checksum'],
  ['ZSTD_error_dictionary_wrong', 'wrong_dictionary'],
  ['ZSTD_error_memory_allocation', 'no_memory'],
]);

/** What an engine has read of what it was given. */
type Engine = Transform & { readonly bytesWritten: number };

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
  readonly #body: ZlibBody;
  readonly #owner: DecompressorOwner;
  readonly #maxRatio: number;

  constructor(library: DecompressionLibrary, loop: WorkerLoop, owner: DecompressorOwner) {
    this.#owner = owner;
    this.#maxRatio = library.maxRatio;
    const engine = ENGINES.make(library);
    this.#body = new ZlibBody(engine, loop, {
      onData: (data) => this.#give(data),
      onEnd: () => {
        // Up to Node 24 the runtime takes the end of the first frame of zstd for the end of all,
        // and what follows would be lost without a word.
        const isWhole = library.kind !== 'zstd' || engine.bytesWritten === this.compressedBytes;
        if (isWhole) owner.onEnd();
        else this.#fail('wrong_data');
      },
      onBacklog: (isFull) => owner.onBacklog(isFull),
      onException: () => this.#fail('wrong_data'),
      onError: ({ code }) => this.#fail(FAILURES.get(code) ?? 'wrong_data'),
    });
  }

  /** `data` is copied. */
  write(data: Buffer): void {
    this.compressedBytes += data.length;
    this.#body.write(data);
  }

  end(): void {
    this.#body.end();
  }

  /** Nothing is called afterwards. */
  destroy(): void {
    this.#body.destroy();
  }

  #give(data: Buffer): void {
    this.uncompressedBytes += data.length;
    if (this.uncompressedBytes > this.compressedBytes * this.#maxRatio) this.#fail('too_large');
    else this.#owner.onDecompressed(data);
  }

  #fail(failure: DecompressionFailure): void {
    this.destroy();
    this.#owner.onFailure(failure);
  }
}

const ENGINES = new KindTable<DecompressionLibrary, [], Engine>({
  gzip: (library) =>
    createGunzip({
      ...optionsOf(library),
      windowBits: library.windowBits,
      flush: constants.Z_SYNC_FLUSH,
    }),
  brotli: (library) =>
    createBrotliDecompress({ ...optionsOf(library), flush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: (library) => {
    assert(zstd !== undefined, 'a configuration with zstd is refused where there is none');
    return zstd.createZstdDecompress(optionsOf(library));
  },
});

function optionsOf({ chunkBytes: chunkSize }: DecompressionLibrary) {
  return { chunkSize, ...ZLIB_WAITING_LIMIT };
}
