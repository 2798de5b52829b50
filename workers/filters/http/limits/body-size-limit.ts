/**
 * Refuses requests whose bodies are larger than a limit, without holding them back. Source:
 * envoy.filters.http.body_size_limit.
 */
import type { BodySizeLimitFilterSettings } from '../../../../shared/resources/filters/http/limits/body-size-limit.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

export function makeBodySizeLimitFilter({
  name,
  options: { maxRequestBytes },
}: BodySizeLimitFilterSettings): FilterFactory {
  if (maxRequestBytes === undefined) return { name, create: () => new PassThroughFilter() };
  return { name, create: (callbacks) => new BodySizeLimitFilter(maxRequestBytes, callbacks) };
}

class BodySizeLimitFilter extends PassThroughFilter {
  readonly #limit: number;
  readonly #callbacks: FilterCallbacks;
  #bytes = 0;

  constructor(limit: number, callbacks: FilterCallbacks) {
    super();
    this.#limit = limit;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    if (Number(headers.get('content-length') ?? 0) <= this.#limit) return 'continue';
    this.#refuse('content length too large');
    return 'stop';
  }

  override decodeData(data: Buffer): DataStatus {
    this.#bytes += data.length;
    if (this.#bytes <= this.#limit) return 'continue';
    this.#refuse('request too long');
    return 'stop';
  }

  #refuse(body: string): void {
    this.#callbacks.sendLocalReply({ status: 413, body, details: 'request_payload_too_large' });
  }
}
