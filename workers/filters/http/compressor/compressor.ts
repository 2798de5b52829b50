/**
 * Compresses bodies: of responses in an encoding that the client accepts, of requests where that is
 * configured. Source: envoy.filters.http.compressor, RFC 9110 section 12.5.3.
 */
import type {
  CompressionDirection,
  CompressorOptions,
  CompressorPerRoute,
  CompressorFilterSettings,
} from '../../../../shared/resources/filters/http/compressor.ts';
import { readBoolean } from '../../../../shared/runtime/read-runtime.ts';
import {
  COMPRESSOR,
  COMPRESSOR_DIRECTION,
  CONTENT_CODINGS,
} from '../../../../shared/resources/filters/http/compressor.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { addVary, announce, isSwitch } from './coded-headers.ts';
import { isTypeAllowed, type TypeMatcher, typeMatcher } from './content-types.ts';
import { chooseEncoding, type CompressorOffer } from './accept-encoding.ts';
import { compressBody } from './body-compressor.ts';
import type { FilterContext } from '../../filter-context.ts';
import { hasToken } from '../../common/header-tokens.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import type { ZlibBody } from '../../common/zlib-body.ts';

interface CompressorParts extends CompressorOffer {
  readonly name: string;
  readonly options: CompressorOptions;
  readonly context: FilterContext;
  readonly matchType: {
    readonly request: TypeMatcher | undefined;
    readonly response: TypeMatcher;
  };
  readonly base: number;
  readonly requestBase: number;
  readonly responseBase: number;
}

export function makeCompressorFilter(
  { name, options }: CompressorFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { libraryName, library, request, response, chooseFirst } = options;
  const prefix = `${context.statPrefix}compressor.${libraryName}.${library.kind}.`;
  const define = (
    template: Parameters<typeof context.stats.defineBlock>[0],
    at: string,
  ): number => {
    const base = context.stats.defineBlock(template, at);
    context.onBlock(base);
    return base;
  };
  const matchType = {
    request: request && typeMatcher(request),
    response: typeMatcher(response),
  };
  const parts: CompressorParts = {
    name,
    options,
    context,
    encoding: CONTENT_CODINGS[library.kind],
    chooseFirst,
    isContentTypeAllowed: (type) => isTypeAllowed(type, matchType.response),
    matchType,
    base: define(COMPRESSOR, prefix),
    requestBase: define(COMPRESSOR_DIRECTION, `${prefix}request.`),
    responseBase: define(
      COMPRESSOR_DIRECTION,
      options.hasResponseStats ? `${prefix}response.` : prefix,
    ),
  };
  return { name, create: (callbacks) => new CompressorFilter(parts, callbacks) };
}

const { index } = COMPRESSOR_DIRECTION;
const REASON_COUNTERS = {
  absent: COMPRESSOR.index.no_accept_header,
  not_valid: COMPRESSOR.index.header_not_valid,
  identity: COMPRESSOR.index.header_identity,
  wildcard: COMPRESSOR.index.header_wildcard,
} as const;

class CompressorFilter extends PassThroughFilter {
  readonly #parts: CompressorParts;
  readonly #callbacks: FilterCallbacks;
  #acceptEncoding: string | undefined = undefined;
  #request: ZlibBody | undefined = undefined;
  #requestTrailers: HeaderMap | undefined = undefined;
  #response: ZlibBody | undefined = undefined;
  #responseTrailers: HeaderMap | undefined = undefined;

  constructor(parts: CompressorParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const parts = this.#parts;
    const { request, response, removeAcceptEncoding } = parts.options;
    this.#acceptEncoding = headers.getAll('accept-encoding');
    const ofRoute = this.#routeSettings();
    if (this.#isEnabled(response)) {
      this.#offer();
      if (ofRoute?.removeAcceptEncoding ?? removeAcceptEncoding) headers.remove('accept-encoding');
    }
    const isCompressed = !endStream && this.#isRequestCompressible(headers, request);
    this.#count(parts.requestBase + (isCompressed ? index.compressed : index.not_compressed));
    if (!isCompressed) return 'continue';
    announce(headers, parts.encoding);
    this.#request = compressBody(parts.options.library, parts.context.loop, {
      onCompressed: (data, isLast) => this.#passRequest(data, isLast),
      onBacklog: (isFull) => this.#callbacks.pauseRequest(isFull),
      onFailure: () => this.#callbacks.resetStream(),
    });
    return 'continue';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#request === undefined) return 'continue';
    this.#take(this.#request, data, this.#parts.requestBase);
    if (endStream) this.#request.end();
    return 'taken';
  }

  override decodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#request === undefined) return 'continue';
    this.#requestTrailers = trailers;
    this.#request.end();
    return 'taken';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const parts = this.#parts;
    const { response, library } = parts.options;
    // An answer made here may come after one whose body had begun.
    this.#response?.destroy();
    this.#response = undefined;
    const isEnabled = this.#isEnabled(response);
    const isWanted = isEnabled && this.#isLongEnough(headers, response, parts.responseBase);
    if (isEnabled && !isWanted) this.#tell(headers, endStream, 'ContentLengthTooSmall');
    const isAccepted = isWanted && !endStream && this.#isAccepted(headers);
    const isCompressible = isWanted && this.#isCompressible(headers, endStream);
    const isCompressed = isAccepted && isCompressible;
    this.#count(parts.responseBase + (isCompressed ? index.compressed : index.not_compressed));
    if (isCompressed) {
      this.#tell(headers, endStream, 'Compressed');
      this.#changeEtag(headers);
      announce(headers, parts.encoding);
      this.#response = compressBody(library, parts.context.loop, {
        onCompressed: (data, isLast) => this.#passResponse(data, isLast),
        onBacklog: (isFull) => this.#callbacks.pauseResponse(isFull),
        onFailure: () => this.#callbacks.resetStream(),
      });
    }
    if (isCompressible) addVary(headers);
    return 'continue';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#response === undefined) return 'continue';
    this.#take(this.#response, data, this.#parts.responseBase);
    if (endStream) this.#response.end();
    return 'taken';
  }

  override encodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#response === undefined) return 'continue';
    this.#responseTrailers = trailers;
    this.#response.end();
    return 'taken';
  }

  override onDestroy(): void {
    this.#request?.destroy();
    this.#response?.destroy();
  }

  #isRequestCompressible(headers: HeaderMap, direction: CompressionDirection | undefined): boolean {
    return (
      direction !== undefined &&
      this.#isEnabled(direction) &&
      this.#isLongEnough(headers, direction, this.#parts.requestBase) &&
      isTypeAllowed(headers.get('content-type'), this.#parts.matchType.request) &&
      !headers.has('content-encoding') &&
      headers.method !== 'CONNECT' &&
      !headers.has('upgrade')
    );
  }

  #take(compressor: ZlibBody, data: Buffer, base: number): void {
    this.#parts.context.stats.add(base + index.total_uncompressed_bytes, data.length);
    compressor.write(data);
  }

  #passRequest(data: Buffer, isLast: boolean): void {
    const { context, requestBase } = this.#parts;
    context.stats.add(requestBase + index.total_compressed_bytes, data.length);
    const requestTrailers = this.#requestTrailers;
    if (isLast && requestTrailers !== undefined) {
      this.#callbacks.injectRequestTrailers(requestTrailers);
    } else this.#callbacks.injectRequestData(data, isLast);
  }

  #passResponse(data: Buffer, isLast: boolean): void {
    const { context, responseBase } = this.#parts;
    context.stats.add(responseBase + index.total_compressed_bytes, data.length);
    const responseTrailers = this.#responseTrailers;
    if (isLast && responseTrailers !== undefined) {
      this.#callbacks.injectResponseTrailers(responseTrailers);
    } else this.#callbacks.injectResponseData(data, isLast);
  }

  #offer(): void {
    const { compressorOffers } = this.#parts.context;
    const offers = compressorOffers.get(this.#callbacks.info);
    if (offers === undefined) compressorOffers.set(this.#callbacks.info, [this.#parts]);
    else offers.push(this.#parts);
  }

  #isAccepted(headers: HeaderMap): boolean {
    const { context, base, encoding } = this.#parts;
    const contentType = headers.get('content-type');
    const offers = context.compressorOffers.get(this.#callbacks.info) ?? [];
    const usable = offers.filter((offer) => offer.isContentTypeAllowed(contentType));
    const choice = chooseEncoding(this.#acceptEncoding, usable);
    const isChosen = choice.encoding === encoding;
    if (choice.reason !== 'compressor') this.#count(base + REASON_COUNTERS[choice.reason]);
    else if (isChosen) this.#count(base + COMPRESSOR.index.header_compressor_used);
    else this.#count(base + COMPRESSOR.index.header_compressor_overshadowed);
    return isChosen;
  }

  #isCompressible(headers: HeaderMap, endStream: boolean): boolean {
    const { options, base, matchType } = this.#parts;
    if (isSwitch(headers)) return false;
    if (this.#callbacks.info.requestHeaders?.method === 'CONNECT') return false;
    if (!isTypeAllowed(headers.get('content-type'), matchType.response)) {
      this.#tell(headers, endStream, 'ContentTypeNotAllowed');
      return false;
    }
    if (hasToken(headers.getAll('cache-control'), 'no-transform')) return false;
    if (options.etag === 'leave_uncompressed' && headers.has('etag')) {
      this.#count(base + COMPRESSOR.index.not_compressed_etag);
      this.#tell(headers, endStream, 'EtagNotAllowed');
      return false;
    }
    if (options.uncompressibleStatuses.includes(headers.status)) {
      this.#tell(headers, endStream, 'StatusCodeNotAllowed');
      return false;
    }
    return !headers.has('content-encoding');
  }

  /** Says in a header what became of the body, in Envoy's words. */
  #tell(headers: HeaderMap, endStream: boolean, what: string): void {
    const { options, encoding } = this.#parts;
    if (!options.tellsStatus || endStream) return;
    const length = headers.get('content-length');
    const before = what === 'Compressed' && length !== undefined ? `;OriginalLength=${length}` : '';
    headers.add('x-envoy-compression-status', `${encoding};${what}${before}`);
  }

  #changeEtag(headers: HeaderMap): void {
    const etag = headers.get('etag');
    if (etag === undefined || /^w\//i.test(etag)) return;
    if (this.#parts.options.etag === 'weaken') headers.set('etag', `W/${etag}`);
    else headers.remove('etag');
  }

  #isEnabled({ isEnabled, enabledKey }: CompressionDirection): boolean {
    if (this.#routeSettings()?.isDisabled === true) return false;
    if (enabledKey === undefined) return isEnabled;
    return readBoolean(this.#parts.context.runtime.snapshot, enabledKey, isEnabled);
  }

  #isLongEnough(headers: HeaderMap, direction: CompressionDirection, base: number): boolean {
    const length = headers.get('content-length');
    if (length === undefined || Number(length) >= direction.minContentLength) return true;
    this.#count(base + index.content_length_too_small);
    return false;
  }

  #routeSettings(): CompressorPerRoute | undefined {
    return this.#callbacks.routeConfig(this.#parts.name) as CompressorPerRoute | undefined;
  }

  #count(counter: number): void {
    this.#parts.context.stats.increment(counter);
  }
}
