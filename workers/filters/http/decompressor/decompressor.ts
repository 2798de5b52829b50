/**
 * Decompresses bodies of requests and answers whose outermost listed encoding is the library's. A
 * body that cannot be decompressed breaks off, so that nobody takes a part of it for the whole.
 * Source: envoy.filters.http.decompressor.
 */
import { KindTable } from '../../../../shared/resources/by-kind.ts';
import type {
  DecompressionDirection,
  DecompressorOptions,
  DecompressorFilterSettings,
} from '../../../../shared/resources/filters/http/decompressor.ts';
import { CONTENT_CODINGS } from '../../../../shared/resources/filters/http/compressor.ts';
import { readBoolean } from '../../../../shared/runtime/read-runtime.ts';
import {
  BROTLI_DECOMPRESSOR,
  DECOMPRESSOR,
  ZLIB_DECOMPRESSOR,
  ZSTD_DECOMPRESSOR,
} from '../../../../shared/resources/filters/http/decompressor.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import { BodyDecompressor, type DecompressionFailure } from './body-decompressor.ts';
import { hasToken } from '../../common/header-tokens.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

interface DecompressorParts {
  readonly name: string;
  readonly options: DecompressorOptions;
  readonly context: FilterContext;
  readonly encoding: string;
  readonly base: number;
  readonly libraryBase: number;
}

const ZSTD_COUNTERS: Partial<Record<DecompressionFailure, keyof typeof ZSTD_DECOMPRESSOR.index>> = {
  wrong_checksum: 'zstd_checksum_wrong_error',
  wrong_dictionary: 'zstd_dictionary_error',
  no_memory: 'zstd_memory_error',
};

const LIBRARY_STATS = {
  gzip: ZLIB_DECOMPRESSOR,
  brotli: BROTLI_DECOMPRESSOR,
  zstd: ZSTD_DECOMPRESSOR,
};

export function makeDecompressorFilter(
  { name, options }: DecompressorFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { libraryName, library } = options;
  const prefix = `${context.statPrefix}decompressor.${libraryName}.${library.kind}.`;
  const base = context.stats.defineBlock(DECOMPRESSOR, prefix);
  const libraryBase = context.stats.defineBlock(
    LIBRARY_STATS[library.kind],
    `${prefix}decompressor_library.`,
  );
  context.onBlock(base);
  context.onBlock(libraryBase);
  const encoding = CONTENT_CODINGS[library.kind];
  const parts: DecompressorParts = { name, options, context, encoding, base, libraryBase };
  return { name, create: (callbacks) => new DecompressorFilter(parts, callbacks) };
}

type Direction = 'request' | 'response';

const { index } = DECOMPRESSOR;

class DecompressorFilter extends PassThroughFilter {
  readonly #parts: DecompressorParts;
  readonly #callbacks: FilterCallbacks;
  #request: BodyDecompressor | undefined = undefined;
  #response: BodyDecompressor | undefined = undefined;
  readonly #trailers: Partial<Record<Direction, HeaderMap>> = {};

  constructor(parts: DecompressorParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { options, encoding } = this.#parts;
    if (options.advertises && this.#isEnabled(options.response)) {
      const accepted = headers.getAll('accept-encoding');
      const isNone = accepted === undefined || accepted === '';
      headers.set('accept-encoding', isNone ? encoding : `${accepted},${encoding}`);
    }
    if (!endStream) this.#request = this.#begin('request', headers);
    return 'continue';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    return take(this.#request, data, endStream);
  }

  override decodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#request === undefined) return 'continue';
    this.#trailers.request = trailers;
    this.#request.end();
    return 'taken';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    // An answer made here may come after one whose body had begun.
    this.#response?.destroy();
    this.#response = endStream ? undefined : this.#begin('response', headers);
    return 'continue';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    return take(this.#response, data, endStream);
  }

  override encodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#response === undefined) return 'continue';
    this.#trailers.response = trailers;
    this.#response.end();
    return 'taken';
  }

  override onDestroy(): void {
    this.#request?.destroy();
    this.#response?.destroy();
  }

  /** Undefined for a body that passes as it is. */
  #begin(direction: Direction, headers: HeaderMap): BodyDecompressor | undefined {
    const { options, context, encoding, base } = this.#parts;
    const rest = encodingsBehind(encoding, headers.getAll('content-encoding'));
    const isWanted =
      rest !== undefined &&
      this.#isEnabled(options[direction]) &&
      (options[direction].ignoresNoTransform ||
        !hasToken(headers.getAll('cache-control'), 'no-transform'));
    if (!isWanted) {
      context.stats.increment(base + index[`${direction}.not_decompressed`]);
      return undefined;
    }
    context.stats.increment(base + index[`${direction}.decompressed`]);
    headers.remove('content-length');
    headers.remove('content-encoding');
    if (rest !== '') headers.set('content-encoding', rest);
    const isRequest = direction === 'request';
    const body = new BodyDecompressor(options.library, context.loop, {
      onDecompressed: (data) =>
        isRequest
          ? this.#callbacks.injectRequestData(data, false)
          : this.#callbacks.injectResponseData(data, false),
      onEnd: () => this.#finish(direction, body),
      onBacklog: (isFull) =>
        isRequest ? this.#callbacks.pauseRequest(isFull) : this.#callbacks.pauseResponse(isFull),
      onFailure: (failure) => this.#fail(failure),
    });
    return body;
  }

  /** Says behind the body what it was and what it became, as Envoy does. */
  #finish(direction: Direction, body: BodyDecompressor): void {
    const { context, base, options } = this.#parts;
    const { compressedBytes, uncompressedBytes } = body;
    context.stats.add(base + index[`${direction}.total_compressed_bytes`], compressedBytes);
    context.stats.add(base + index[`${direction}.total_uncompressed_bytes`], uncompressedBytes);
    const trailers = this.#trailers[direction] ?? new HeaderMap();
    const name = `x-envoy-decompressor-${options.libraryName.toLowerCase()}`;
    trailers.add(`${name}-compressed-bytes`, String(compressedBytes));
    trailers.add(`${name}-uncompressed-bytes`, String(uncompressedBytes));
    if (direction === 'request') this.#callbacks.injectRequestTrailers(trailers);
    else this.#callbacks.injectResponseTrailers(trailers);
  }

  #fail(failure: DecompressionFailure): void {
    const { context, libraryBase, options } = this.#parts;
    for (const counter of FAILURE_COUNTERS.make(options.library, failure)) {
      context.stats.increment(libraryBase + counter);
    }
    this.#callbacks.resetStream();
  }

  #isEnabled({ isEnabled, enabledKey }: DecompressionDirection): boolean {
    if (enabledKey === undefined) return isEnabled;
    return readBoolean(this.#parts.context.runtime.snapshot, enabledKey, isEnabled);
  }
}

function take(body: BodyDecompressor | undefined, data: Buffer, endStream: boolean): DataStatus {
  if (body === undefined) return 'continue';
  body.write(data);
  if (endStream) body.end();
  return 'taken';
}

/** What counts a failure. */
const FAILURE_COUNTERS = new KindTable<
  DecompressorOptions['library'],
  [DecompressionFailure],
  readonly number[]
>({
  gzip: (_, failure) => {
    const { zlib_buf_error: early, zlib_data_error: wrong } = ZLIB_DECOMPRESSOR.index;
    return [failure === 'early_end' ? early : wrong];
  },
  zstd: (_, failure) => [ZSTD_DECOMPRESSOR.index[ZSTD_COUNTERS[failure] ?? 'zstd_generic_error']],
  brotli: (_, failure) => {
    const { brotli_error: wrong, brotli_output_overflow: overflow } = BROTLI_DECOMPRESSOR.index;
    return failure === 'too_large' ? [wrong, overflow] : [wrong];
  },
});

/** What is left of the list when its first entry is `encoding`; undefined when it is another. */
function encodingsBehind(encoding: string, list: string | undefined): string | undefined {
  if (list === undefined) return undefined;
  const [first = '', ...rest] = list.split(',');
  return first.trim().toLowerCase() === encoding ? rest.join(',').trim() : undefined;
}
