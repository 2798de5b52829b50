/**
 * Holds a request back until it is whole, up to a limit, and gives it a length. Source:
 * envoy.filters.http.buffer.
 */
import type {
  BufferPerRoute,
  BufferFilterSettings,
} from '../../../../shared/resources/filters/http/limits/buffer.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { refuseLargeRequest } from '../../common/kept-body.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

export function makeBufferFilter(
  { name, options: { maxRequestBytes } }: BufferFilterSettings,
  context: FilterContext,
): FilterFactory {
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfig(name) as BufferPerRoute | undefined;
      const limit = ofRoute === undefined ? maxRequestBytes : ofRoute.maxRequestBytes;
      return limit === undefined
        ? new PassThroughFilter()
        : new BufferFilter(limit, context, callbacks);
    },
  };
}

class BufferFilter extends PassThroughFilter {
  readonly #limit: number;
  readonly #context: FilterContext;
  readonly #callbacks: FilterCallbacks;
  #headers: HeaderMap | undefined = undefined;
  #bytes = 0;

  constructor(limit: number, context: FilterContext, callbacks: FilterCallbacks) {
    super();
    this.#limit = limit;
    this.#context = context;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    if (endStream) return 'continue';
    this.#headers = headers;
    return 'stop';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    this.#bytes += data.length;
    if (this.#bytes > this.#limit) {
      refuseLargeRequest(this.#context, this.#callbacks);
      return 'stop';
    }
    if (!endStream) return 'stop_and_buffer';
    this.#addLength();
    return 'continue';
  }

  override decodeTrailers(): HeadersStatus {
    this.#addLength();
    return 'continue';
  }

  #addLength(): void {
    const headers = this.#headers;
    if (headers === undefined || headers.has('content-length')) return;
    headers.remove('transfer-encoding');
    headers.set('content-length', String(this.#bytes));
  }
}
