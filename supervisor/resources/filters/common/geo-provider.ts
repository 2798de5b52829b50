/** Resolves where clients' addresses are looked up: databases of MaxMind's format. */
import type {
  CommonGeoipProviderConfig as CommonMessage,
  CommonGeoipProviderConfig_GeolocationFieldKeys as Keys,
  CommonGeoipProviderConfig_GeolocationHeadersToAdd as HeadersToAdd,
} from '../../../../shared/api/generated/envoy/extensions/geoip_providers/common/v3/common.ts';
import type { MaxMindConfig } from '../../../../shared/api/generated/envoy/extensions/geoip_providers/maxmind/v3/maxmind.ts';
import {
  GEO_DATABASE_BYTES_MAX,
  MaxmindDatabase,
} from '../../../../shared/geo/maxmind-database.ts';
import {
  GEO_DATABASES,
  GEO_FACTS,
  type GeoProvider,
} from '../../../../shared/resources/filters/common/geo.ts';
import { readConfiguredFileNow } from '../../../config/configured-file.ts';
import { extension, ExtensionRegistry } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';

const FIELDS = knownFields<MaxMindConfig>([
  'city_db_path',
  'isp_db_path',
  'anon_db_path',
  'asn_db_path',
  'country_db_path',
  'common_provider_config',
]);
const COMMON_FIELDS = knownFields<CommonMessage>(['geo_headers_to_add', 'geo_field_keys']);
const KEY_FIELDS = knownFields<Keys>([...GEO_FACTS]);
const HEADER_FIELDS = knownFields<HeadersToAdd>([...GEO_FACTS, 'is_anon']);

export const GEO_PROVIDERS = new ExtensionRegistry<GeoProvider>(
  'envoy.geoip_providers',
  'geolocation provider',
  [
    extension(
      'envoy.geoip_providers.maxmind',
      'envoy.extensions.geoip_providers.maxmind.v3.MaxMindConfig',
      resolveMaxmind,
    ),
  ],
);

function resolveMaxmind(message: MaxMindConfig, scope: Scope): GeoProvider {
  refuseOtherFields(message, FIELDS, scope);
  const databases = GEO_DATABASES.flatMap((kind) => {
    const path = message[`${kind}_db_path`] ?? '';
    return path === '' ? [] : [{ kind, path }];
  });
  if (databases.length === 0) {
    scope.error(
      'conflict',
      'At least one geolocation database path needs to be configured: city_db_path, isp_db_path, asn_db_path, anon_db_path or country_db_path',
    );
  }
  for (const { kind, path } of databases) checkDatabase(path, scope.at(`${kind}_db_path`));
  return { databases, names: namesOf(message.common_provider_config ?? {}, scope) };
}

/** Workers read it again: it is too large for a message. */
function checkDatabase(path: string, scope: Scope): void {
  const refuse = (why: string): void =>
    scope.error('file', `Unable to open Maxmind database file ${path}. Error ${why}`);
  let bytes: Buffer;
  try {
    bytes = readConfiguredFileNow(path, GEO_DATABASE_BYTES_MAX);
  } catch {
    refuse('Error opening the specified MaxMind DB file');
    return;
  }
  try {
    void new MaxmindDatabase(bytes);
  } catch {
    refuse('The MaxMind DB file contains invalid metadata');
  }
}

function namesOf(message: CommonMessage, scope: Scope): GeoProvider['names'] {
  const place = scope.at('common_provider_config');
  refuseOtherFields(message, COMMON_FIELDS, place);
  const { geo_headers_to_add: headers = {}, geo_field_keys: keys } = message;
  refuseOtherFields(headers, HEADER_FIELDS, place.at('geo_headers_to_add'));
  refuseOtherFields(keys ?? {}, KEY_FIELDS, place.at('geo_field_keys'));
  const named = keys ?? { ...headers, anon: headers.anon ?? headers.is_anon };
  return GEO_FACTS.flatMap((fact) => {
    const name = named[fact] ?? '';
    return name === '' ? [] : [{ fact, name }];
  });
}
