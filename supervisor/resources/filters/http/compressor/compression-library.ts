/**
 * Resolves the compressor libraries: gzip, brotli and, where the runtime has it, zstd. Others are
 * refused by name.
 */
import type { OfKind } from '../../../../../shared/resources/by-kind.ts';
import type { Brotli } from '../../../../../shared/api/generated/envoy/extensions/compression/brotli/compressor/v3/brotli.ts';
import type { Gzip } from '../../../../../shared/api/generated/envoy/extensions/compression/gzip/compressor/v3/gzip.ts';
import type { Zstd } from '../../../../../shared/api/generated/envoy/extensions/compression/zstd/compressor/v3/zstd.ts';
import { whyNoZstdCompression } from '../../../../../shared/process/zstd.ts';
import type { CompressionLibrary } from '../../../../../shared/resources/filters/http/compressor.ts';
import { extension, ExtensionRegistry } from '../../../extensions.ts';
import type { Scope } from '../../../scope.ts';

/** In zlib's order of numbers. */
const STRATEGIES: readonly unknown[] = [
  'DEFAULT_STRATEGY',
  'FILTERED',
  'HUFFMAN_ONLY',
  'RLE',
  'FIXED',
];
const MODES: readonly unknown[] = ['GENERIC', 'TEXT', 'FONT'];
const CHUNK_BYTES = 4096;
/** In the library's order of numbers. */
const ZSTD_STRATEGIES: readonly unknown[] = [
  'DEFAULT',
  'FAST',
  'DFAST',
  'GREEDY',
  'LAZY',
  'LAZY2',
  'BTLAZY2',
  'BTOPT',
  'BTULTRA',
  'BTULTRA2',
];
const ZSTD_LEVEL = 3;

function gzipLevel(level: Gzip['compression_level']): number {
  if (level === undefined || level === 'DEFAULT_COMPRESSION') return -1;
  if (level === 'BEST_SPEED') return 1;
  if (level === 'BEST_COMPRESSION') return 9;
  return typeof level === 'number' ? level : Number(level.slice('COMPRESSION_LEVEL_'.length));
}

function zstdLibrary(message: Zstd, scope: Scope): OfKind<CompressionLibrary, 'zstd'> | undefined {
  const reason = whyNoZstdCompression();
  if (reason !== undefined) scope.error('unsupported', reason);
  if (message.dictionary !== undefined) {
    scope.at('dictionary').error('unsupported', 'dictionaries are not supported');
  }
  if (reason !== undefined || message.dictionary !== undefined) return undefined;
  return {
    kind: 'zstd',
    level: message.compression_level ?? ZSTD_LEVEL,
    strategy: Math.max(0, ZSTD_STRATEGIES.indexOf(message.strategy)),
    hasChecksum: message.enable_checksum ?? false,
    chunkBytes: message.chunk_size ?? CHUNK_BYTES,
  };
}

export const COMPRESSION_LIBRARIES = new ExtensionRegistry<CompressionLibrary>(
  'envoy.compression.compressor',
  'compressor library',
  {
    gzip: extension(
      'envoy.compression.gzip.compressor',
      'envoy.extensions.compression.gzip.compressor.v3.Gzip',
      (message: Gzip) => ({
        kind: 'gzip',
        level: gzipLevel(message.compression_level),
        memoryLevel: message.memory_level ?? 5,
        strategy: Math.max(0, STRATEGIES.indexOf(message.compression_strategy)),
        windowBits: message.window_bits ?? 12,
        chunkBytes: message.chunk_size ?? CHUNK_BYTES,
      }),
    ),
    brotli: extension(
      'envoy.compression.brotli.compressor',
      'envoy.extensions.compression.brotli.compressor.v3.Brotli',
      (message: Brotli) => ({
        kind: 'brotli',
        quality: message.quality ?? 3,
        mode: Math.max(0, MODES.indexOf(message.encoder_mode)),
        windowBits: message.window_bits ?? 18,
        inputBlockBits: message.input_block_bits ?? 24,
        withoutContextModeling: message.disable_literal_context_modeling ?? false,
        chunkBytes: message.chunk_size ?? CHUNK_BYTES,
      }),
    ),
    zstd: extension(
      'envoy.compression.zstd.compressor',
      'envoy.extensions.compression.zstd.compressor.v3.Zstd',
      zstdLibrary,
    ),
  },
);
