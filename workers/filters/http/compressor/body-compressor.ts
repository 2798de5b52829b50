/** Compresses one body as a library of the configuration says. */
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
  return new ZlibBody(makeEngine(library), loop, {
    onData: (data) => owner.onCompressed(data, false),
    onEnd: () => owner.onCompressed(NOTHING, true),
    onBacklog: (isFull) => owner.onBacklog(isFull),
    onError: () => owner.onFailure(),
    onException: () => owner.onFailure(),
  });
}

function makeEngine(library: CompressionLibrary): Transform {
  const chunkSize = library.chunkBytes;
  if (library.kind === 'gzip') {
    const { level, memoryLevel: memLevel, strategy, windowBits } = library;
    const flush = constants.Z_SYNC_FLUSH;
    return createGzip({
      level,
      memLevel,
      strategy,
      windowBits,
      chunkSize,
      flush,
      ...ZLIB_WAITING_LIMIT,
    });
  }
  if (library.kind === 'zstd') return makeZstd(library);
  return createBrotliCompress({
    chunkSize,
    flush: constants.BROTLI_OPERATION_FLUSH,
    params: {
      [constants.BROTLI_PARAM_QUALITY]: library.quality,
      [constants.BROTLI_PARAM_MODE]: library.mode,
      [constants.BROTLI_PARAM_LGWIN]: library.windowBits,
      [constants.BROTLI_PARAM_LGBLOCK]: library.inputBlockBits,
      [constants.BROTLI_PARAM_DISABLE_LITERAL_CONTEXT_MODELING]: library.withoutContextModeling,
    },
    ...ZLIB_WAITING_LIMIT,
  });
}

function makeZstd(library: Extract<CompressionLibrary, { readonly kind: 'zstd' }>): Transform {
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
