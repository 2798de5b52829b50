/** Settings and stats of envoy.filters.http.compressor. */
import type { StringMatcher } from '../../routes/matchers.ts';
import type { FilterResource } from '../declare-filter.ts';
import { declareKind } from '../declare-filter.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';

export type CompressionLibrary =
  | {
      readonly kind: 'gzip';
      /** In zlib's numbers. */
      readonly level: number;
      readonly memoryLevel: number;
      readonly strategy: number;
      readonly windowBits: number;
      readonly chunkBytes: number;
    }
  | {
      readonly kind: 'brotli';
      readonly quality: number;
      /** In the library's numbers: 0 generic, 1 text, 2 font. */
      readonly mode: number;
      readonly windowBits: number;
      readonly inputBlockBits: number;
      readonly withoutContextModeling: boolean;
      readonly chunkBytes: number;
    }
  | {
      readonly kind: 'zstd';
      readonly level: number;
      /** In the library's numbers; 0 is the level's own. */
      readonly strategy: number;
      readonly hasChecksum: boolean;
      readonly chunkBytes: number;
    };

/** As messages name what the libraries make. */
export const CONTENT_CODINGS = { gzip: 'gzip', brotli: 'br', zstd: 'zstd' } as const;

export interface CompressionDirection {
  readonly isEnabled: boolean;
  readonly enabledKey?: string;
  readonly minContentLength: number;
  /** Media types in lower case, without parameters. */
  readonly contentTypes: readonly string[];
  /** In place of these types where there are some; not in lower case. */
  readonly typeMatchers: readonly StringMatcher[];
}

export interface CompressorOptions {
  /** Configured name of the library's extension, a part of the statistics' names. */
  readonly libraryName: string;
  readonly library: CompressionLibrary;
  /** Absent: requests pass as they are. */
  readonly request?: CompressionDirection;
  readonly response: CompressionDirection;
  /** Statistics of responses are named apart, under `response.`. */
  readonly hasResponseStats: boolean;
  /** What becomes of answers with an entity tag. */
  readonly etag: 'remove_strong' | 'weaken' | 'leave_uncompressed';
  readonly removeAcceptEncoding: boolean;
  /** Clients are told what became of their answer. */
  readonly tellsStatus: boolean;
  readonly uncompressibleStatuses: readonly number[];
  readonly chooseFirst: boolean;
}

/** Per route. */
export interface CompressorPerRoute {
  readonly isDisabled: boolean;
  readonly removeAcceptEncoding?: boolean;
}

/** Prefix: `http.<stat_prefix>.compressor.<name>.<library>.` */
export const COMPRESSOR = defineTemplate('compressor', {
  header_compressor_overshadowed: counter('Requests for which another compressor is better'),
  header_compressor_used: counter('Requests that accept this encoding'),
  header_identity: counter('Requests that want no encoding'),
  header_not_valid: counter('Requests with an unusable accept-encoding'),
  header_wildcard: counter('Requests that accept every encoding'),
  no_accept_header: counter('Requests without accept-encoding'),
  not_compressed_etag: counter('Answers left as they were for their entity tag'),
});

/**
 * Prefix: as above, followed by `request.`, by `response.` where that direction is configured, or
 * by nothing.
 */
export const COMPRESSOR_DIRECTION = defineTemplate('compressor_direction', {
  compressed: counter('Compressed messages'),
  content_length_too_small: counter('Messages left as they were: too small'),
  not_compressed: counter('Messages left as they were'),
  total_compressed_bytes: counter('Bytes after compression'),
  total_uncompressed_bytes: counter('Bytes before compression'),
});

export type CompressorFilterSettings = FilterResource<'compressor', CompressorOptions>;

export const COMPRESSOR_DECLARATION = declareKind<CompressorFilterSettings>(
  COMPRESSOR,
  COMPRESSOR_DIRECTION,
);
