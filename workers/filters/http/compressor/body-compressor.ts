/** Compresses one body as a library of the configuration says. */
import {
  constants,
  createBrotliCompress,
  createGzip,
  type BrotliCompress,
  type Gzip,
} from 'node:zlib';
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

function makeEngine(library: CompressionLibrary): Gzip | BrotliCompress {
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
