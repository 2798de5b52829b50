/** Resolves envoy.extensions.filters.network.geoip.v3.Geoip. */
import type { Geoip } from '../../../../shared/api/generated/envoy/extensions/filters/network/geoip/v3/geoip.ts';
import type { NetworkGeoip } from '../../../../shared/resources/filters/network/geoip.ts';
import { resolveFormat } from '../../access-logs/format.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { GEO_PROVIDERS } from '../common/geo-provider.ts';
import { networkFilter } from '../network-filter-row.ts';

const FIELDS = knownFields<Geoip>(['stat_prefix', 'provider', 'client_ip']);

export const GEOIP_NETWORK_FILTER = networkFilter(
  'envoy.filters.network.geoip',
  'envoy.extensions.filters.network.geoip.v3.Geoip',
  false,
  resolveGeoip,
);

function resolveGeoip(message: Geoip, scope: Scope): NetworkGeoip | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const provider = GEO_PROVIDERS.resolve(message.provider ?? {}, scope.at('provider'));
  if (provider === undefined) return undefined;
  const { stat_prefix: statPrefix = '', client_ip: client = '' } = message;
  const format = { text_format_source: { inline_string: client } };
  return {
    kind: 'network_geoip',
    statPrefix,
    provider,
    ...(client === '' ? {} : { clientIp: resolveFormat(format, scope.at('client_ip')) }),
  };
}
