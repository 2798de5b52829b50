/** Settings and stats of envoy.filters.http.decompressor. */
import type { FilterResource } from '../declare-filter.ts';
import { declareKind } from '../declare-filter.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';

export interface DecompressorOptions {
  /** The library's configured name. */
  readonly libraryName: string;
  readonly library: DecompressionLibrary;
  readonly request: DecompressionDirection;
  readonly response: DecompressionDirection;
  /** Upstream is told that answers may come compressed. */
  readonly advertises: boolean;
}

export type DecompressionLibrary = {
  readonly chunkBytes: number;
  /** Bytes that each compressed byte may become, counted over the body so far. */
  readonly maxRatio: number;
} & (
  | { readonly kind: 'gzip'; readonly windowBits: number }
  | { readonly kind: 'brotli' }
  | { readonly kind: 'zstd' }
);

export interface DecompressionDirection {
  readonly isEnabled: boolean;
  readonly enabledKey?: string;
  readonly ignoresNoTransform: boolean;
}

/** Prefix: `http.<stat_prefix>.decompressor.<name>.<library>.` */
export const DECOMPRESSOR = defineTemplate('decompressor', {
  'request.decompressed': counter('Decompressed requests'),
  'request.not_decompressed': counter('Requests left as they were'),
  'request.total_compressed_bytes': counter('Bytes of requests before decompression'),
  'request.total_uncompressed_bytes': counter('Bytes of requests after decompression'),
  'response.decompressed': counter('Decompressed answers'),
  'response.not_decompressed': counter('Answers left as they were'),
  'response.total_compressed_bytes': counter('Bytes of answers before decompression'),
  'response.total_uncompressed_bytes': counter('Bytes of answers after decompression'),
});

/**
 * Prefix: as above, followed by `decompressor_library.`; here zlib tells wrong data from all else.
 */
export const ZLIB_DECOMPRESSOR = defineTemplate('zlib_decompressor', {
  zlib_buf_error: counter('Bodies that ended too early'),
  zlib_data_error: counter('Bodies with wrong data, or that grew beyond the limit'),
  zlib_errno: counter('Never counted: the runtime does not tell'),
  zlib_mem_error: counter('Never counted: the runtime does not tell'),
  zlib_stream_error: counter('Never counted: the runtime does not tell'),
  zlib_version_error: counter('Never counted: the runtime does not tell'),
});

/** Prefix: as above. */
export const BROTLI_DECOMPRESSOR = defineTemplate('brotli_decompressor', {
  brotli_error: counter('Bodies with wrong data, or that grew beyond the limit'),
  brotli_output_overflow: counter('Bodies that grew beyond the limit'),
  brotli_redundant_input: counter('Never counted: the runtime does not tell'),
});

/** Prefix: as above; all that is wrong with a body is one error of the library. */
export const ZSTD_DECOMPRESSOR = defineTemplate('zstd_decompressor', {
  zstd_checksum_wrong_error: counter('Bodies with a wrong checksum'),
  zstd_dictionary_error: counter('Bodies that want a dictionary'),
  zstd_generic_error: counter('Bodies with other wrong data, or that grew beyond the limit'),
  zstd_memory_error: counter('Bodies for which there was no memory'),
});

export type DecompressorFilterSettings = FilterResource<'decompressor', DecompressorOptions>;

export const DECOMPRESSOR_DECLARATION = declareKind<DecompressorFilterSettings>(
  DECOMPRESSOR,
  ZLIB_DECOMPRESSOR,
  BROTLI_DECOMPRESSOR,
  ZSTD_DECOMPRESSOR,
);
