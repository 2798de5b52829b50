/** Resolves envoy.extensions.filters.http.geoip.v3.Geoip. */
import type { Geoip } from '../../../../../shared/api/generated/envoy/extensions/filters/http/geoip/v3/geoip.ts';
import type {
  GeoipFilterSettings,
  GeoipOptions,
} from '../../../../../shared/resources/filters/http/matching/geoip.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { asciiLower } from '../../../matchers/string-matcher.ts';
import { optional } from '../../../values.ts';
import { GEO_PROVIDERS } from '../../common/geo-provider.ts';
import { httpFilter } from '../../http-filter-row.ts';

const FIELDS = knownFields<Geoip>(['xff_config', 'provider', 'custom_header_config']);

export const GEOIP_FILTER = httpFilter(
  'envoy.filters.http.geoip',
  'envoy.extensions.filters.http.geoip.v3.Geoip',
  (message: Geoip, scope, name): GeoipFilterSettings | undefined => {
    refuseOtherFields(message, FIELDS, scope);
    const provider = GEO_PROVIDERS.resolve(message.provider ?? {}, scope.at('provider'));
    if (message.xff_config !== undefined && message.custom_header_config !== undefined) {
      scope.error('conflict', 'Only one of xff_config or custom_header_config can be set');
    }
    if (provider === undefined) return undefined;
    const names = provider.names.map((each) => ({ ...each, name: asciiLower(each.name) }));
    return {
      kind: 'geoip',
      name,
      options: { provider: { ...provider, names }, ...optional('source', sourceOf(message)) },
    };
  },
);

function sourceOf({
  xff_config: xff,
  custom_header_config: header,
}: Geoip): GeoipOptions['source'] {
  if (header !== undefined) return { kind: 'header', name: asciiLower(header.header_name ?? '') };
  if (xff === undefined) return undefined;
  return { kind: 'forwarded_for', trustedHops: xff.xff_num_trusted_hops ?? 0 };
}
