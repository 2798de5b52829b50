/** Settings of envoy.filters.http.geoip. */
import { declareKind, type FilterResource } from '../../declare-filter.ts';
import { GEO_TEMPLATES, type GeoProvider } from '../../common/geo.ts';

export interface GeoipOptions {
  readonly provider: GeoProvider;
  /** Whose address is looked up; absent: that of the request. */
  readonly source?:
    | { readonly kind: 'forwarded_for'; readonly trustedHops: number }
    | { readonly kind: 'header'; readonly name: string };
}

export type GeoipFilterSettings = FilterResource<'geoip', GeoipOptions>;

export const GEOIP_DECLARATION = declareKind<GeoipFilterSettings>(...GEO_TEMPLATES);
