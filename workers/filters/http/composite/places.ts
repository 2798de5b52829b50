/** The places that a composite filter has in the chain of a stream. */
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  HttpFilter,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

const NOTHING = new PassThroughFilter();

/** One place in the chain, and the filter that stands there for this stream. */
export class Place implements HttpFilter {
  protected readonly callbacks: FilterCallbacks;
  #inner: HttpFilter;

  constructor(callbacks: FilterCallbacks, factory: FilterFactory | undefined) {
    this.callbacks = callbacks;
    this.#inner = factory?.create(callbacks) ?? NOTHING;
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    return this.#inner.decodeHeaders(headers, endStream);
  }

  decodeData(data: Buffer, endStream: boolean): DataStatus {
    return this.#inner.decodeData(data, endStream);
  }

  decodeTrailers(trailers: HeaderMap): TrailersStatus {
    return this.#inner.decodeTrailers(trailers);
  }

  encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    return this.#inner.encodeHeaders(headers, endStream);
  }

  encodeData(data: Buffer, endStream: boolean): DataStatus {
    return this.#inner.encodeData(data, endStream);
  }

  encodeTrailers(trailers: HeaderMap): TrailersStatus {
    return this.#inner.encodeTrailers(trailers);
  }

  onDestroy(): void {
    this.#inner.onDestroy();
  }

  replace(factory: FilterFactory | undefined): void {
    this.#inner.onDestroy();
    this.#inner = factory?.create(this.callbacks) ?? NOTHING;
  }
}

interface DecidingPlace {
  decideByResponse(headers: HeaderMap): void;
}

/** A place behind the first; responses meet the last of them before it. */
export class FollowingPlace extends Place {
  readonly #first: DecidingPlace;

  constructor(
    first: DecidingPlace,
    callbacks: FilterCallbacks,
    factory: FilterFactory | undefined,
  ) {
    super(callbacks, factory);
    this.#first = first;
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    this.#first.decideByResponse(headers);
    return super.encodeHeaders(headers, endStream);
  }
}
