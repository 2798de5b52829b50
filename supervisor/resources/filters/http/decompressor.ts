/**
 * Resolves envoy.extensions.filters.http.decompressor.v3 and its libraries: gzip, brotli and, where
 * the runtime has it, zstd.
 */
import type { OfKind } from '../../../../shared/resources/by-kind.ts';
import type { Brotli } from '../../../../shared/api/generated/envoy/extensions/compression/brotli/decompressor/v3/brotli.ts';
import type { Gzip } from '../../../../shared/api/generated/envoy/extensions/compression/gzip/decompressor/v3/gzip.ts';
import type { Zstd } from '../../../../shared/api/generated/envoy/extensions/compression/zstd/decompressor/v3/zstd.ts';
import type {
  Decompressor,
  Decompressor_CommonDirectionConfig as CommonMessage,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/decompressor/v3/decompressor.ts';
import type {
  DecompressionDirection,
  DecompressionLibrary,
  DecompressorFilterSettings,
} from '../../../../shared/resources/filters/http/decompressor.ts';
import { whyNoZstdDecompression } from '../../../../shared/process/zstd.ts';
import { extension, ExtensionRegistry } from '../../extensions.ts';
import type { Scope } from '../../scope.ts';
import { optional } from '../../values.ts';
import { httpFilter } from '../http-filter-row.ts';

export const DECOMPRESSOR_FILTER = httpFilter(
  'envoy.filters.http.decompressor',
  'envoy.extensions.filters.http.decompressor.v3.Decompressor',
  (message: Decompressor, scope, name): DecompressorFilterSettings | undefined => {
    const { decompressor_library: named, request_direction_config: request } = message;
    if (named === undefined) return undefined;
    const library = LIBRARIES.resolve(named, scope.at('decompressor_library'));
    if (library === undefined) return undefined;
    const options = {
      libraryName: named.name ?? '',
      library,
      request: directionOf(request?.common_config),
      response: directionOf(message.response_direction_config?.common_config),
      advertises: request?.advertise_accept_encoding ?? true,
    };
    return { kind: 'decompressor', name, options };
  },
);

/** Envoy's own; for brotli it cannot be configured. */
const MAX_RATIO = 100;
const CHUNK_BYTES = 4096;
const WINDOW_BITS_MAX = 15;

function zstdLibrary(
  message: Zstd,
  scope: Scope,
): OfKind<DecompressionLibrary, 'zstd'> | undefined {
  const hasDictionaries = (message.dictionaries ?? []).length > 0;
  const reason = whyNoZstdDecompression();
  if (reason !== undefined) scope.error('unsupported', reason);
  if (hasDictionaries) {
    scope.at('dictionaries').error('unsupported', 'dictionaries are not supported');
  }
  if (reason !== undefined || hasDictionaries) return undefined;
  return {
    kind: 'zstd',
    chunkBytes: message.chunk_size ?? CHUNK_BYTES,
    maxRatio: MAX_RATIO,
  };
}

const LIBRARIES = new ExtensionRegistry<DecompressionLibrary>(
  'envoy.compression.decompressor',
  'decompressor library',
  {
    gzip: extension(
      'envoy.compression.gzip.decompressor',
      'envoy.extensions.compression.gzip.decompressor.v3.Gzip',
      (message: Gzip) => ({
        kind: 'gzip',
        chunkBytes: message.chunk_size ?? CHUNK_BYTES,
        maxRatio: message.max_inflate_ratio ?? MAX_RATIO,
        windowBits: message.window_bits ?? WINDOW_BITS_MAX,
      }),
    ),
    brotli: extension(
      'envoy.compression.brotli.decompressor',
      'envoy.extensions.compression.brotli.decompressor.v3.Brotli',
      // How its buffer grows is the library's own affair here.
      (message: Brotli) => ({
        kind: 'brotli',
        chunkBytes: message.chunk_size ?? CHUNK_BYTES,
        maxRatio: MAX_RATIO,
      }),
    ),
    zstd: extension(
      'envoy.compression.zstd.decompressor',
      'envoy.extensions.compression.zstd.decompressor.v3.Zstd',
      zstdLibrary,
    ),
  },
);

function directionOf(message: CommonMessage | undefined): DecompressionDirection {
  const key = message?.enabled?.runtime_key ?? '';
  return {
    isEnabled: message?.enabled?.default_value ?? true,
    ...optional('enabledKey', key === '' ? undefined : key),
    ignoresNoTransform: message?.ignore_no_transform_header ?? false,
  };
}
