/**
 * Compresses one body on zlib's threads. Gives each piece on as soon as it is compressed, so that
 * streams of events keep flowing. Bounded: it asks for a pause while more than its limit waits.
 */
import {
  constants,
  createBrotliCompress,
  createGzip,
  type BrotliCompress,
  type Gzip,
} from 'node:zlib';
import type { CompressionLibrary } from '../../shared/resources/http-filters.ts';
import type { WorkerLoop } from '../worker-loop.ts';

/** Bytes that may wait for compression before the sender is paused. */
const WAITING_LIMIT_BYTES = 65_536;

interface CompressorOwner {
  /** `endStream` comes once, with the last call. */
  onCompressed(data: Buffer, endStream: boolean): void;
  onBacklog(isFull: boolean): void;
  onFailure(): void;
}

const NOTHING = Buffer.alloc(0);

export class BodyCompressor {
  private readonly engine: Gzip | BrotliCompress;
  private readonly owner: CompressorOwner;
  private isFull = false;

  constructor(library: CompressionLibrary, loop: WorkerLoop, owner: CompressorOwner) {
    this.owner = owner;
    this.engine = makeEngine(library);
    // None of these comes from within a call of ours: each is an event of the loop of its own.
    const inLoop = (act: () => void): void => {
      loop.enter();
      act();
      loop.leave();
    };
    this.engine.on('data', (data: Buffer) => inLoop(() => owner.onCompressed(data, false)));
    this.engine.on('end', () => inLoop(() => owner.onCompressed(NOTHING, true)));
    this.engine.on('drain', () => inLoop(() => this.setFull(false)));
    this.engine.on('error', () => inLoop(() => owner.onFailure()));
  }

  /** `data` is copied. */
  write(data: Buffer): void {
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

  private setFull(isFull: boolean): void {
    if (this.isFull === isFull) return;
    this.isFull = isFull;
    this.owner.onBacklog(isFull);
  }
}

function makeEngine(library: CompressionLibrary): Gzip | BrotliCompress {
  const chunkSize = library.chunkBytes;
  if (library.kind === 'gzip') {
    const { level, memoryLevel: memLevel, strategy, windowBits } = library;
    const flush = constants.Z_SYNC_FLUSH;
    return createGzip({ level, memLevel, strategy, windowBits, chunkSize, flush, ...LIMIT });
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
    ...LIMIT,
  });
}

const LIMIT = { writableHighWaterMark: WAITING_LIMIT_BYTES };
