/**
 * Refuses requests that have passed this delivery network already, and notes in the others that
 * they have. Source: envoy.filters.http.cdn_loop, RFC 8586.
 */
import type { CdnLoopFilterSettings } from '../../../shared/resources/filters/http/cdn-loop.ts';
import { CdnLoopError, countCdnId } from '../../../shared/text/cdn-loop.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

const CDN_LOOP = 'cdn-loop';

export function makeCdnLoopFilter({ name, options }: CdnLoopFilterSettings): FilterFactory {
  return { name, create: (callbacks) => new CdnLoopFilter(options, callbacks) };
}

class CdnLoopFilter extends PassThroughFilter {
  readonly #options: CdnLoopFilterSettings['options'];
  readonly #callbacks: FilterCallbacks;

  constructor(options: CdnLoopFilterSettings['options'], callbacks: FilterCallbacks) {
    super();
    this.#options = options;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { cdnId, allowedOccurrences } = this.#options;
    // Names may be repeated in one field and in several.
    const passed = headers.getAll(CDN_LOOP) ?? '';
    const count = occurrences(passed, cdnId);
    if (count === undefined) {
      this.#callbacks.sendLocalReply({
        status: 400,
        body: 'Invalid CDN-Loop header in request.',
        details: 'invalid_cdn_loop_header',
      });
      return 'stop';
    }
    if (count > allowedOccurrences) {
      this.#callbacks.sendLocalReply({
        status: 502,
        body: 'The server has detected a loop between CDNs.',
        details: 'cdn_loop_detected',
      });
      return 'stop';
    }
    headers.set(CDN_LOOP, passed === '' ? cdnId : `${passed},${cdnId}`);
    return 'continue';
  }
}

/** Undefined where the field is not what the RFC says. */
function occurrences(text: string, cdnId: string): number | undefined {
  try {
    return countCdnId(text, cdnId);
  } catch (error) {
    if (error instanceof CdnLoopError) return undefined;
    throw error;
  }
}
