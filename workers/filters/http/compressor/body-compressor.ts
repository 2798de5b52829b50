/** Compresses one body as a library of the configuration says. */
import { KindTable, type OfKind } from '../../../../shared/resources/by-kind.ts';
import { assert } from '../../../../shared/process/assert.ts';
import type { Transform } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import { zstd } from '../../../../shared/process/zstd.ts';
import type { CompressionLibrary } from '../../../../shared/resources/filters/http/compressor.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import { ZLIB_WAITING_LIMIT, ZlibBody } from '../../common/zlib-body.ts';

interface CompressorOwner {
  /** `endStream` comes once, with the last call. */
  onCompressed(data: Buffer, endStream: boolean): void;
  onBacklog(isFull: boolean): void;
  onFailure(): void;
}

const NOTHING = Buffer.alloc(0);

export function compressBody(
  library: CompressionLibrary,
  loop: WorkerLoop,
  owner: CompressorOwner,
): ZlibBody {
  return new ZlibBody(ENGINES.make(library), loop, {
    onData: (data) => owner.onCompressed(data, false),
    onEnd: () => owner.onCompressed(NOTHING, true),
    onBacklog: (isFull) => owner.onBacklog(isFull),
    onError: () => owner.onFailure(),
    onException: () => owner.onFailure(),
  });
}

const ENGINES = new KindTable<CompressionLibrary, [], Transform>({
  gzip: ({ chunkBytes: chunkSize, level, memoryLevel: memLevel, strategy, windowBits }) =>
    createGzip({
      level,
      memLevel,
      strategy,
      windowBits,
      chunkSize,
      flush: constants.Z_SYNC_FLUSH,
      ...ZLIB_WAITING_LIMIT,
    }),
  brotli: (library) =>
    createBrotliCompress({
      chunkSize: library.chunkBytes,
      flush: constants.BROTLI_OPERATION_FLUSH,
      params: {
        [constants.BROTLI_PARAM_QUALITY]: library.quality,
        [constants.BROTLI_PARAM_MODE]: library.mode,
        [constants.BROTLI_PARAM_LGWIN]: library.windowBits,
        [constants.BROTLI_PARAM_LGBLOCK]: library.inputBlockBits,
        [constants.BROTLI_PARAM_DISABLE_LITERAL_CONTEXT_MODELING]: library.withoutContextModeling,
      },
      ...ZLIB_WAITING_LIMIT,
    }),
  zstd: makeZstd,
});

function makeZstd(library: OfKind<CompressionLibrary, 'zstd'>): Transform {
  assert(zstd !== undefined, 'a configuration with zstd is refused where there is none');
  const { constants: names } = zstd;
  return zstd.createZstdCompress({
    chunkSize: library.chunkBytes,
    flush: names.ZSTD_e_flush,
    params: {
      [names.ZSTD_c_compressionLevel]: library.level,
      [names.ZSTD_c_strategy]: library.strategy,
      [names.ZSTD_c_checksumFlag]: library.hasChecksum,
    },
    ...ZLIB_WAITING_LIMIT,
  });
}
