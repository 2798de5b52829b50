/** Resolves the compressor libraries: gzip and brotli. Others are refused by name. */
import type { Brotli } from '../../../../../shared/api/generated/envoy/extensions/compression/brotli/compressor/v3/brotli.ts';
import type { Gzip } from '../../../../../shared/api/generated/envoy/extensions/compression/gzip/compressor/v3/gzip.ts';
import type { CompressionLibrary } from '../../../../../shared/resources/filters/http/compressor.ts';
import { extension, ExtensionRegistry } from '../../../extensions.ts';

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

function gzipLevel(level: Gzip['compression_level']): number {
  if (level === undefined || level === 'DEFAULT_COMPRESSION') return -1;
  if (level === 'BEST_SPEED') return 1;
  if (level === 'BEST_COMPRESSION') return 9;
  return typeof level === 'number' ? level : Number(level.slice('COMPRESSION_LEVEL_'.length));
}

export const COMPRESSION_LIBRARIES = new ExtensionRegistry<CompressionLibrary>(
  'envoy.compression.compressor',
  'compressor library',
  [
    extension(
      'envoy.compression.gzip.compressor',
      'envoy.extensions.compression.gzip.compressor.v3.Gzip',
      (message: Gzip): CompressionLibrary => ({
        kind: 'gzip',
        level: gzipLevel(message.compression_level),
        memoryLevel: message.memory_level ?? 5,
        strategy: Math.max(0, STRATEGIES.indexOf(message.compression_strategy)),
        windowBits: message.window_bits ?? 12,
        chunkBytes: message.chunk_size ?? CHUNK_BYTES,
      }),
    ),
    extension(
      'envoy.compression.brotli.compressor',
      'envoy.extensions.compression.brotli.compressor.v3.Brotli',
      (message: Brotli): CompressionLibrary => ({
        kind: 'brotli',
        quality: message.quality ?? 3,
        mode: Math.max(0, MODES.indexOf(message.encoder_mode)),
        windowBits: message.window_bits ?? 18,
        inputBlockBits: message.input_block_bits ?? 24,
        withoutContextModeling: message.disable_literal_context_modeling ?? false,
        chunkBytes: message.chunk_size ?? CHUNK_BYTES,
      }),
    ),
  ],
);
