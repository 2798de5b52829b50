/** Resolves envoy.extensions.filters.http.api_key_auth.v3. */
import type {
  ApiKeyAuth,
  ApiKeyAuthPerRoute,
  Credential,
  Forwarding,
  KeySource,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/api_key_auth/v3/api_key_auth.ts';
import { toByteString } from '../../../../../shared/regex/byte-string.ts';
import type {
  ApiKeyAuthFilterSettings,
  ApiKeyAuthOptions,
  KeyPlace,
} from '../../../../../shared/resources/filters/http/auth/api-key-auth.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { asciiLower } from '../../../matchers/string-matcher.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

const PACKAGE = 'envoy.extensions.filters.http.api_key_auth.v3';
const FIELDS = knownFields<ApiKeyAuth>(['credentials', 'key_sources', 'forwarding']);
const ROUTE_FIELDS = knownFields<ApiKeyAuthPerRoute>([
  'credentials',
  'key_sources',
  'forwarding',
  'allowed_clients',
]);
const CREDENTIAL_FIELDS = knownFields<Credential>(['key', 'client']);
const SOURCE_FIELDS = knownFields<KeySource>(['header', 'query', 'cookie']);
const FORWARDING_FIELDS = knownFields<Forwarding>(['header', 'hide_credentials']);

export const API_KEY_AUTH_FILTER = httpFilter(
  'envoy.filters.http.api_key_auth',
  `${PACKAGE}.ApiKeyAuth`,
  (message: ApiKeyAuth, scope, name): ApiKeyAuthFilterSettings => {
    refuseOtherFields(message, FIELDS, scope);
    return { kind: 'api_key_auth', name, options: resolveOptions(message, scope) };
  },
  perRoute(`${PACKAGE}.ApiKeyAuthPerRoute`, (message: ApiKeyAuthPerRoute, scope) => {
    refuseOtherFields(message, ROUTE_FIELDS, scope);
    return resolveOptions(message, scope);
  }),
);

function resolveOptions(message: ApiKeyAuthPerRoute, scope: Scope): ApiKeyAuthOptions {
  const { credentials = [], key_sources: sources = [], forwarding } = message;
  const places = sources.map((source, index) =>
    resolveSource(source, scope.at('key_sources', index)),
  );
  if (forwarding !== undefined) {
    refuseOtherFields(forwarding, FORWARDING_FIELDS, scope.at('forwarding'));
  }
  return {
    ...(credentials.length === 0
      ? {}
      : { clients: resolveClients(credentials, scope.at('credentials')) }),
    ...(sources.length === 0 ? {} : { places: places.filter((place) => place !== undefined) }),
    ...optional(
      'forwarding',
      forwarding && {
        header: asciiLower(forwarding.header ?? ''),
        hidesKey: forwarding.hide_credentials ?? false,
      },
    ),
    allowedClients: message.allowed_clients ?? [],
  };
}

function resolveClients(
  credentials: readonly Credential[],
  scope: Scope,
): ReadonlyMap<string, string> {
  const clients = new Map<string, string>();
  for (const [index, credential] of credentials.entries()) {
    const place = scope.at(index);
    refuseOtherFields(credential, CREDENTIAL_FIELDS, place);
    const { key = '', client = '' } = credential;
    if (clients.has(toByteString(key))) {
      place.error('duplicate', `Duplicated credential key: '${key}'`);
    }
    clients.set(toByteString(key), client);
  }
  return clients;
}

/** Undefined after a reported problem. */
function resolveSource(message: KeySource, scope: Scope): KeyPlace | undefined {
  refuseOtherFields(message, SOURCE_FIELDS, scope);
  const { header = '', query = '', cookie = '' } = message;
  if (header !== '') return { kind: 'header', name: asciiLower(header) };
  if (query !== '') return { kind: 'query', name: toByteString(query) };
  if (cookie !== '') return { kind: 'cookie', name: toByteString(cookie) };
  scope.error('conflict', "One of 'header'/'query'/'cookie' must be set.");
  return undefined;
}
