/** Tells upstream what is known of the client's address. Source: envoy.filters.http.geoip. */
import type {
  GeoipFilterSettings,
  GeoipOptions,
} from '../../../shared/resources/filters/http/matching/geoip.ts';
import { addressFromForwardedFor, parseIpAddress } from '../../net/client-address.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { GeoLookup } from '../common/geo/geo-lookup.ts';
import type { FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

export function makeGeoipFilter(
  { name, options }: GeoipFilterSettings,
  context: FilterContext,
): FilterFactory {
  const lookup = new GeoLookup(options.provider, context.statScope, context);
  context.onRelease(() => lookup.release());
  return { name, create: (callbacks) => new GeoipFilter(lookup, options.source, callbacks) };
}

class GeoipFilter extends PassThroughFilter {
  readonly #lookup: GeoLookup;
  readonly #source: GeoipOptions['source'];
  readonly #callbacks: FilterCallbacks;

  constructor(lookup: GeoLookup, source: GeoipOptions['source'], callbacks: FilterCallbacks) {
    super();
    this.#lookup = lookup;
    this.#source = source;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    this.#lookup.find(this.#address(headers), (name, text) => headers.set(name, text));
    return 'continue';
  }

  #address(headers: HeaderMap): string {
    const { downstreamRemoteAddress: remote } = this.#callbacks.info;
    const source = this.#source;
    if (source === undefined) return remote.ip;
    const text = headers.get(source.kind === 'header' ? source.name : 'x-forwarded-for') ?? '';
    const found =
      source.kind === 'header'
        ? parseIpAddress(text)
        : addressFromForwardedFor(text, source.trustedHops);
    return (found ?? remote).ip;
  }
}
