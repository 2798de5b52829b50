/** Resolves envoy.extensions.filters.http.oauth2.v3. */
import type {
  OAuth2,
  OAuth2Config,
  OAuth2Credentials,
  OAuth2PerRoute,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/oauth2/v3/oauth.ts';
import type { PathMatcher } from '../../../../../shared/api/generated/envoy/type/matcher/v3/path.ts';
import type { SdsSecretConfig } from '../../../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/secret.ts';
import { toByteString } from '../../../../../shared/regex/byte-string.ts';
import type { GenericSecret } from '../../../../../shared/resources/generic-secret.ts';
import type {
  ClientAuth,
  OAuth2ChainOptions,
  OAuth2FilterSettings,
  OAuth2Options,
} from '../../../../../shared/resources/filters/http/auth/oauth2.ts';
import type { StringMatcher } from '../../../../../shared/resources/routes/matchers.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveGenericSecret } from '../../../generic-secret.ts';
import { resolveHttpTarget } from '../../../http-target.ts';
import { resolveHeaderMatchers } from '../../../matchers/header-matcher.ts';
import { asciiLower, resolveStringMatcher } from '../../../matchers/string-matcher.ts';
import type { Scope } from '../../../scope.ts';
import { durationMs } from '../../../values.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';
import { resolveAddresses } from './addresses.ts';
import { resolveCookies } from './cookies.ts';

const PACKAGE = 'envoy.extensions.filters.http.oauth2.v3';
const CONFIG_FIELDS = knownFields<OAuth2Config>([
  'token_endpoint',
  'authorization_endpoint',
  'credentials',
  'redirect_uri',
  'redirect_path_matcher',
  'signout_path',
  'forward_bearer_token',
  'preserve_authorization_header',
  'pass_through_matcher',
  'auth_scopes',
  'resources',
  'auth_type',
  'use_refresh_token',
  'default_expires_in',
  'deny_redirect_matcher',
  'default_refresh_token_expires_in',
  'disable_id_token_set_cookie',
  'retry_policy',
  'end_session_endpoint',
  'post_logout_redirect_uri',
  'forward_id_token',
  'disable_access_token_set_cookie',
  'disable_refresh_token_set_cookie',
  'cookie_configs',
  'stat_prefix',
  'csrf_token_expires_in',
  'code_verifier_token_expires_in',
  'disable_token_encryption',
  'allow_failed_matcher',
  'original_request_uri',
  'allowed_redirect_domains',
  'use_access_token_expiry_for_id_token_cookie',
  'private_key_jwt_config',
  'token_cookie_chunking',
]);
const CREDENTIAL_FIELDS = knownFields<OAuth2Credentials>([
  'client_id',
  'token_secret',
  'hmac_secret',
  'cookie_names',
  'cookie_domain',
]);

const REFRESH_TOKEN_SECONDS = 604_800;
const LOGIN_SECONDS = 600;
const ASSERTION_SECONDS = 60;

export const OAUTH2_FILTER = httpFilter(
  'envoy.filters.http.oauth2',
  `${PACKAGE}.OAuth2`,
  (message: OAuth2, scope, name): OAuth2FilterSettings | undefined => {
    const options = resolveMessage(message, scope);
    return options && { kind: 'oauth2', name, options };
  },
  perRoute(`${PACKAGE}.OAuth2PerRoute`, (message: OAuth2PerRoute, scope) =>
    resolveMessage(message, scope),
  ),
);

function resolveMessage(message: OAuth2, scope: Scope): OAuth2ChainOptions | undefined {
  if (message.config === undefined) return {};
  const own = resolveConfig(message.config, scope.at('config'));
  return own && { own };
}

/** Undefined after a reported problem. */
function resolveConfig(message: OAuth2Config, scope: Scope): OAuth2Options | undefined {
  refuseOtherFields(message, CONFIG_FIELDS, scope);
  const { credentials = {}, token_endpoint: endpoint = {}, stat_prefix: prefix = '' } = message;
  const credentialsPlace = scope.at('credentials');
  refuseOtherFields(credentials, CREDENTIAL_FIELDS, credentialsPlace);
  const auth = resolveAuth(message, scope);
  const hmacSecret = secretOf(credentials, 'hmac_secret', 'HMAC', credentialsPlace);
  const callbackPath = pathMatcher(message.redirect_path_matcher, scope, 'redirect_path_matcher');
  const signOutPath = pathMatcher(message.signout_path, scope, 'signout_path');
  const addresses = resolveAddresses(message, scope);
  if (!auth || !hmacSecret || !callbackPath || !signOutPath || !addresses) return undefined;
  return {
    statPrefix: prefix === '' || prefix.endsWith('.') ? prefix : `${prefix}.`,
    clientId: toByteString(credentials.client_id ?? ''),
    auth,
    hmacSecret,
    tokenEndpoint: resolveHttpTarget(endpoint, message.retry_policy, scope.at('token_endpoint')),
    addresses,
    cookies: resolveCookies(message),
    callbackPath,
    signOutPath,
    passThrough: headers(message, 'pass_through_matcher', scope),
    denyRedirect: headers(message, 'deny_redirect_matcher', scope),
    allowFailed: headers(message, 'allow_failed_matcher', scope),
    ...resolveTokens(message),
    ...resolveLifetimes(message),
  };
}

type Lifetimes = Pick<
  OAuth2Options,
  | 'defaultExpirySeconds'
  | 'refreshExpirySeconds'
  | 'nonceExpirySeconds'
  | 'verifierExpirySeconds'
  | 'idTokenEndsWithAccess'
>;

function resolveLifetimes(message: OAuth2Config): Lifetimes {
  return {
    defaultExpirySeconds: seconds(message.default_expires_in, 0),
    refreshExpirySeconds: seconds(message.default_refresh_token_expires_in, REFRESH_TOKEN_SECONDS),
    nonceExpirySeconds: seconds(message.csrf_token_expires_in, LOGIN_SECONDS),
    verifierExpirySeconds: seconds(message.code_verifier_token_expires_in, LOGIN_SECONDS),
    idTokenEndsWithAccess: message.use_access_token_expiry_for_id_token_cookie ?? false,
  };
}

type Tokens = Pick<
  OAuth2Options,
  | 'keeps'
  | 'usesRefresh'
  | 'encryptsTokens'
  | 'forwardsBearer'
  | 'idTokenHeader'
  | 'preservesAuthorization'
>;

function resolveTokens(message: OAuth2Config): Tokens {
  const usesRefresh = message.use_refresh_token ?? true;
  return {
    keeps: {
      access: message.disable_access_token_set_cookie !== true,
      id: message.disable_id_token_set_cookie !== true,
      refresh: usesRefresh && message.disable_refresh_token_set_cookie !== true,
    },
    usesRefresh,
    encryptsTokens: message.disable_token_encryption !== true,
    forwardsBearer: message.forward_bearer_token ?? false,
    idTokenHeader: asciiLower(message.forward_id_token?.header ?? ''),
    preservesAuthorization: message.preserve_authorization_header ?? false,
  };
}

function resolveAuth(message: OAuth2Config, scope: Scope): ClientAuth | undefined {
  const { credentials = {}, auth_type: type, private_key_jwt_config: key = {} } = message;
  const place = scope.at('credentials');
  if (type === 'TLS_CLIENT_AUTH') {
    if (credentials.token_secret !== undefined) {
      const text = 'OAuth2 filter: token_secret is ignored when auth_type is TLS_CLIENT_AUTH';
      place.at('token_secret').warning('no_effect', text);
    }
    return { kind: 'tls' };
  }
  const secret = secretOf(credentials, 'token_secret', 'token', place);
  if (secret === undefined) return undefined;
  if (type !== 'PRIVATE_KEY_JWT') {
    return { kind: type === 'BASIC_AUTH' ? 'basic' : 'body', secret };
  }
  const { signing_algorithm: algorithm = 'RS256', assertion_audience: audience = '' } = key;
  return {
    kind: 'assertion',
    secret,
    algorithm: typeof algorithm === 'string' ? algorithm : 'RS256',
    lifetimeSeconds: seconds(key.assertion_lifetime, ASSERTION_SECONDS),
    audience: audience === '' ? (message.token_endpoint?.uri ?? '') : audience,
  };
}

/** Undefined after a reported problem. */
function secretOf(
  credentials: OAuth2Credentials,
  field: 'token_secret' | 'hmac_secret',
  what: string,
  scope: Scope,
): GenericSecret | undefined {
  const reference: SdsSecretConfig = credentials[field] ?? {};
  const place = scope.at(field);
  const isUnknown =
    reference.sds_config === undefined &&
    scope.context.secrets?.get(reference.name ?? '') === undefined;
  if (!isUnknown) return resolveGenericSecret(reference, place);
  place.error('reference', `invalid ${what} secret configuration`);
  return undefined;
}

function pathMatcher(
  message: PathMatcher | undefined,
  scope: Scope,
  field: string,
): StringMatcher | undefined {
  return resolveStringMatcher(message?.path ?? {}, scope.at(field, 'path'));
}

function headers(
  message: OAuth2Config,
  field: 'pass_through_matcher' | 'deny_redirect_matcher' | 'allow_failed_matcher',
  scope: Scope,
): OAuth2Options['passThrough'] {
  return resolveHeaderMatchers(message[field], scope.at(field));
}

function seconds(duration: string | undefined, fallback: number): number {
  return duration === undefined ? fallback : Math.floor(durationMs(duration) / 1000);
}
