/** Resolves envoy.extensions.filters.http.jwt_authn.v3.JwtProvider. */
import type {
  JwtCacheConfig,
  JwtClaimToHeader,
  JwtHeader,
  JwtProvider as ProviderMessage,
  JwksAsyncFetch,
  RemoteJwks,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/jwt_authn/v3/config.ts';
import { readJwks } from '../../../../../shared/jwt/jwks.ts';
import { toByteString } from '../../../../../shared/regex/byte-string.ts';
import type {
  ClaimHeader,
  JwksSource,
  JwtProvider,
  TokenPlace,
} from '../../../../../shared/resources/filters/http/jwt-authn.ts';
import { readDataSource } from '../../../data-source.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { isAbsoluteUri, resolveHttpTarget } from '../../../http-target.ts';
import { asciiLower, resolveStringMatcher } from '../../../matchers/string-matcher.ts';
import type { Scope } from '../../../scope.ts';
import { durationMs, durationMsOr, optional } from '../../../values.ts';

const FIELDS = knownFields<ProviderMessage>([
  'issuer',
  'audiences',
  'subjects',
  'require_expiration',
  'max_lifetime',
  'remote_jwks',
  'local_jwks',
  'forward',
  'from_headers',
  'from_params',
  'from_cookies',
  'forward_payload_header',
  'pad_forward_payload_header',
  'payload_in_metadata',
  'normalize_payload_in_metadata',
  'header_in_metadata',
  'failed_status_in_metadata',
  'clock_skew_seconds',
  'jwt_cache_config',
  'claim_to_headers',
  'clear_route_cache',
]);
const REMOTE_FIELDS = knownFields<RemoteJwks>([
  'http_uri',
  'cache_duration',
  'async_fetch',
  'retry_policy',
]);
const ASYNC_FIELDS = knownFields<JwksAsyncFetch>(['fast_listener', 'failed_refetch_duration']);
const CACHE_FIELDS = knownFields<JwtCacheConfig>(['jwt_cache_size', 'jwt_max_token_size']);
const HEADER_FIELDS = knownFields<JwtHeader>(['name', 'value_prefix']);
const CLAIM_FIELDS = knownFields<JwtClaimToHeader>(['header_name', 'claim_name', 'claim_path']);

const DEFAULT_PLACES: readonly TokenPlace[] = [
  { kind: 'header', name: 'authorization', prefix: 'Bearer ' },
  { kind: 'param', name: 'access_token' },
];
const CLOCK_SKEW_SECONDS = 60;
const CACHED_TOKENS = 100;
const CACHED_TOKEN_BYTES = 4096;
const CACHE_MS = 600_000;
const FAILED_REFETCH_MS = 1000;

/** Undefined after a reported problem. */
export function resolveProvider(
  name: string,
  message: ProviderMessage,
  scope: Scope,
): JwtProvider | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const jwks = resolveJwks(name, message, scope);
  const { claim_to_headers: claims = [], normalize_payload_in_metadata: normalize } = message;
  if (jwks === undefined) return undefined;
  return {
    name,
    jwks,
    ...resolveChecks(message, scope),
    forward: message.forward ?? false,
    places: resolvePlaces(message, scope),
    payloadHeader: asciiLower(message.forward_payload_header ?? ''),
    padsPayload: message.pad_forward_payload_header ?? false,
    payloadInMetadata: message.payload_in_metadata ?? '',
    headerInMetadata: message.header_in_metadata ?? '',
    failureInMetadata: message.failed_status_in_metadata ?? '',
    spaceDelimitedClaims: normalize?.space_delimited_claims ?? [],
    claimHeaders: claims.map((claim, index) =>
      resolveClaim(claim, scope.at('claim_to_headers', index)),
    ),
    clearsRoute: message.clear_route_cache ?? false,
  };
}

type Checks = Pick<
  JwtProvider,
  | 'issuer'
  | 'audiences'
  | 'subjects'
  | 'requiresExpiration'
  | 'maxLifetimeSeconds'
  | 'clockSkewSeconds'
  | 'cache'
>;

function resolveChecks(message: ProviderMessage, scope: Scope): Checks {
  const { subjects, max_lifetime: lifetime, clock_skew_seconds: skew } = message;
  const { jwt_cache_config: cache } = message;
  return {
    issuer: message.issuer ?? '',
    audiences: message.audiences ?? [],
    ...optional('subjects', subjects && resolveStringMatcher(subjects, scope.at('subjects'))),
    requiresExpiration: message.require_expiration ?? false,
    ...optional(
      'maxLifetimeSeconds',
      lifetime === undefined ? undefined : durationMs(lifetime) / 1000,
    ),
    clockSkewSeconds: orDefault(skew, CLOCK_SKEW_SECONDS),
    ...optional('cache', cache && resolveCache(cache, scope.at('jwt_cache_config'))),
  };
}

function resolveCache(message: JwtCacheConfig, scope: Scope): NonNullable<JwtProvider['cache']> {
  refuseOtherFields(message, CACHE_FIELDS, scope);
  return {
    tokens: orDefault(message.jwt_cache_size, CACHED_TOKENS),
    tokenBytesMax: orDefault(message.jwt_max_token_size, CACHED_TOKEN_BYTES),
  };
}

function orDefault(value: number | undefined, fallback: number): number {
  return value === undefined || value === 0 ? fallback : value;
}

function resolveJwks(name: string, message: ProviderMessage, scope: Scope): JwksSource | undefined {
  const { local_jwks: local, remote_jwks: remote } = message;
  if (remote !== undefined) return resolveRemote(name, remote, scope.at('remote_jwks'));
  if (local === undefined) return undefined;
  const place = scope.at('local_jwks');
  const jwks = readDataSource(local, place);
  if (jwks === undefined) return undefined;
  const read = readJwks(jwks);
  if ('keys' in read) return { kind: 'local', jwks };
  place.error(
    'conflict',
    `Provider '${name}' in jwt_authn config has invalid local jwks: ${read.problem}`,
  );
  return undefined;
}

function resolveRemote(name: string, message: RemoteJwks, scope: Scope): JwksSource | undefined {
  refuseOtherFields(message, REMOTE_FIELDS, scope);
  const { http_uri: uri = {}, async_fetch: ahead, retry_policy: retry } = message;
  if (ahead !== undefined) refuseOtherFields(ahead, ASYNC_FIELDS, scope.at('async_fetch'));
  if (!isAbsoluteUri(uri.uri ?? '')) {
    scope
      .at('http_uri', 'uri')
      .error('conflict', `Provider '${name}' has an invalid URI: '${uri.uri ?? ''}'`);
  }
  const cacheMs = durationMsOr(message.cache_duration, CACHE_MS);
  return {
    kind: 'remote',
    target: resolveHttpTarget(uri, retry, scope.at('http_uri')),
    // Envoy counts whole seconds.
    cacheMs: Math.floor(cacheMs / 1000) * 1000,
    ...optional(
      'asyncFetch',
      ahead && {
        isFast: ahead.fast_listener ?? false,
        failedRefetchMs: durationMsOr(ahead.failed_refetch_duration, FAILED_REFETCH_MS),
      },
    ),
  };
}

function resolvePlaces(message: ProviderMessage, scope: Scope): readonly TokenPlace[] {
  const {
    from_headers: headers = [],
    from_params: params = [],
    from_cookies: cookies = [],
  } = message;
  const places: readonly TokenPlace[] = [
    ...headers.map((header, index) => {
      refuseOtherFields(header, HEADER_FIELDS, scope.at('from_headers', index));
      const { name = '', value_prefix: prefix = '' } = header;
      return { kind: 'header', name: asciiLower(name), prefix: toByteString(prefix) } as const;
    }),
    ...params.map((name) => ({ kind: 'param', name: toByteString(name) }) as const),
    ...cookies.map((name) => ({ kind: 'cookie', name: toByteString(name) }) as const),
  ];
  return places.length === 0 ? DEFAULT_PLACES : places;
}

function resolveClaim(message: JwtClaimToHeader, scope: Scope): ClaimHeader {
  refuseOtherFields(message, CLAIM_FIELDS, scope);
  const { header_name: header = '', claim_name: claim = '', claim_path: segments = [] } = message;
  const path = segments.map(({ key = '' }) => key);
  return { header: asciiLower(header), path: path.length > 0 ? path : claim.split('.') };
}
