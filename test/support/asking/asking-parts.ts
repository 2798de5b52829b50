/**
 * Everything of a configuration that asks a service: how it is configured for one cluster, and what
 * a client is told where that service fails.
 */
import type { Protocol } from '../peers/hostile/failing-services.ts';
import {
  type AskingPart,
  EXTENSIONS,
  grpc,
  NAME,
  SCRIPT_FILE,
  TIMEOUT,
  uri,
} from './asking-part.ts';
import { TELEMETRY } from './telemetry-parts.ts';

const TYPE = `${EXTENSIONS}.filters.http`;

function filter(name: string, message: string, config: object): object {
  return {
    name: `envoy.filters.http.${name}`,
    typed_config: { '@type': `${TYPE}.${name}.v3.${message}`, ...config },
  };
}

/** Secrets that the bootstrap has. */
export const PART_SECRETS = ['token', 'hmac'].map((name) => ({
  name,
  generic_secret: { secret: { inline_string: `the-${name}-secret` } },
}));

const authz = (
  name: string,
  config: (cluster: string) => object,
  protocol: Protocol,
): AskingPart => ({
  name,
  protocol,
  http: (cluster) => filter('ext_authz', 'ExtAuthz', config(cluster)),
  status: 403,
  counted: 'http.NAME.ext_authz.error',
});
const byHttp = (cluster: string): object => ({ http_service: { server_uri: uri(cluster) } });
const byGrpc = (config: object) => (cluster: string) => ({ ...grpc(cluster), ...config });

const AUTHORISATION: readonly AskingPart[] = [
  // A service by HTTP says yes by its status alone.
  { ...authz('authz-http', byHttp, 'http'), except: { nonsense: 200 } },
  authz('authz-grpc', byGrpc({}), 'grpc'),
  { ...authz('authz-status', byGrpc({ status_on_error: { code: 503 } }), 'grpc'), status: 503 },
  {
    ...authz('authz-open', byGrpc({ failure_mode_allow: true }), 'grpc'),
    status: 200,
    counted: 'http.NAME.ext_authz.failure_mode_allowed',
  },
  {
    name: 'authz-network',
    protocol: 'grpc',
    network: (cluster) => network('ext_authz', 'ExtAuthz', cluster, {}),
    status: 0,
    counted: 'ext_authz.NAME.error',
  },
  {
    name: 'authz-network-open',
    protocol: 'grpc',
    network: (cluster) => network('ext_authz', 'ExtAuthz', cluster, { failure_mode_allow: true }),
    status: 200,
    counted: 'ext_authz.NAME.failure_mode_allowed',
  },
];

function network(name: string, message: string, cluster: string, config: object): object {
  const type = `${EXTENSIONS}.filters.network.${name}.v3.${message}`;
  const service = name === 'ratelimit' ? { rate_limit_service: grpc(cluster) } : grpc(cluster);
  return {
    name: `envoy.filters.network.${name}`,
    typed_config: { '@type': type, stat_prefix: NAME, ...service, ...config },
  };
}

const limit = (name: string, config: object): AskingPart => ({
  name,
  protocol: 'grpc',
  http: (cluster) =>
    filter('ratelimit', 'RateLimit', {
      domain: 'shop',
      stat_prefix: name,
      timeout: TIMEOUT,
      rate_limit_service: grpc(cluster),
      ...config,
    }),
  status: 200,
  counted: `cluster.up.ratelimit.${name}.error`,
});
const DESCRIPTORS = {
  domain: 'shop',
  timeout: TIMEOUT,
  descriptors: [{ entries: [{ key: 'k', value: 'v' }] }],
};

/** Nobody is asked, so nothing fails. */
const UNASKED = { status: 200, counted: 'cluster.up.upstream_rq_200' };

const LIMITS: readonly AskingPart[] = [
  limit('limit', {}),
  { ...limit('limit-deny', { failure_mode_deny: true }), status: 500 },
  // Descriptors of its own stage alone are asked for; the other routes' have no stage 2.
  { ...limit('limit-stage', { stage: 1, failure_mode_deny: true }), status: 500 },
  { ...limit('limit-no-stage', { stage: 2, failure_mode_deny: true }), ...UNASKED },
  {
    name: 'limit-network',
    protocol: 'grpc',
    network: (cluster) =>
      network('ratelimit', 'RateLimit', cluster, { ...DESCRIPTORS, failure_mode_deny: true }),
    status: 0,
    counted: 'ratelimit.NAME.error',
  },
  {
    name: 'quota',
    protocol: 'grpc',
    http: (cluster) => filter('rate_limit_quota', 'RateLimitQuotaFilterConfig', quota(cluster)),
    status: 429,
  },
];

function quota(cluster: string): object {
  const settings = {
    '@type': `${TYPE}.rate_limit_quota.v3.RateLimitQuotaBucketSettings`,
    bucket_id_builder: { bucket_id_builder: { name: { string_value: 'one' } } },
    reporting_interval: '0.2s',
    no_assignment_behavior: { fallback_rate_limit: { blanket_rule: 'DENY_ALL' } },
  };
  return {
    rlqs_server: { envoy_grpc: { cluster_name: cluster } },
    domain: 'shop',
    bucket_matchers: { on_no_match: { action: { name: 'bucket', typed_config: settings } } },
  };
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** Its keys have to be asked for. */
const TOKEN = `${encoded({ alg: 'RS256' })}.${encoded({ iss: 'i' })}.c2ln`;

const TOKENS: readonly AskingPart[] = [
  {
    name: 'jwks',
    protocol: 'http',
    http: (cluster) =>
      filter('jwt_authn', 'JwtAuthentication', {
        providers: { p: { issuer: 'i', remote_jwks: { http_uri: uri(cluster, '/keys') } } },
        rules: [{ match: { prefix: '/' }, requires: { provider_name: 'p' } }],
      }),
    status: 401,
    headers: { authorization: `Bearer ${TOKEN}` },
    counted: 'http.NAME.jwt_authn.jwks_fetch_failed',
  },
  {
    name: 'login',
    protocol: 'http',
    http: (cluster) =>
      filter('oauth2', 'OAuth2', {
        config: {
          token_endpoint: uri(cluster, '/token'),
          authorization_endpoint: 'http://service.test/authorize',
          redirect_uri: 'http://%REQ(:authority)%/callback',
          redirect_path_matcher: { path: { exact: '/callback' } },
          signout_path: { path: { exact: '/signout' } },
          credentials: {
            client_id: 'me',
            token_secret: { name: 'token' },
            hmac_secret: { name: 'hmac' },
          },
        },
      }),
    status: 401,
    counted: 'http.NAME.oauth_failure',
  },
  {
    name: 'injector',
    protocol: 'http',
    http: (cluster) =>
      filter('credential_injector', 'CredentialInjector', {
        credential: {
          name: 'envoy.http.injected_credentials.oauth2',
          typed_config: {
            '@type': `${EXTENSIONS}.http.injected_credentials.oauth2.v3.OAuth2`,
            token_endpoint: uri(cluster, '/token'),
            client_credentials: { client_id: 'me', client_secret: { name: 'token' } },
          },
        },
      }),
    status: 401,
  },
  {
    name: 'metadata-server',
    protocol: 'http',
    http: (cluster) => filter('gcp_authn', 'GcpAuthnFilterConfig', { cluster, timeout: TIMEOUT }),
    status: 200,
  },
];

const LUA = `function envoy_on_request(handle)
  local headers = handle:httpCall("CLUSTER",
    {[":method"] = "GET", [":path"] = "/", [":authority"] = "service.test"}, "", 400)
  handle:headers():add("x-asked", headers[":status"])
end`;

/** A module of the operator's: what it cannot fetch it answers with 502. */
export const SCRIPT = `import { defineFilter, object, string } from 'sluice/filter';
export default defineFilter({
  schema: object({ cluster: string() }),
  create: ({ cluster }) => ({
    async onRequestHeaders(_headers, stream) {
      const answer = await stream.fetch(cluster, { path: '/', timeoutMs: 400 }).catch(() => ({ status: 0 }));
      return answer.status === 200 ? undefined : { status: 502 };
    },
  }),
});
`;

const PROCESSORS: readonly AskingPart[] = [
  {
    name: 'script',
    protocol: 'http',
    http: (cluster) => ({
      name: 'script',
      typed_config: {
        '@type': 'type.googleapis.com/sluice.filters.http.script.v1.Script',
        file: SCRIPT_FILE,
        settings: { cluster },
      },
    }),
    status: 502,
    // Any bytes are an answer.
    except: { nonsense: 200 },
  },
  {
    name: 'lua',
    protocol: 'http',
    http: (cluster) =>
      filter('lua', 'Lua', {
        default_source_code: { inline_string: LUA.replace('CLUSTER', cluster) },
      }),
    status: 200,
  },
  {
    name: 'processor',
    protocol: 'grpc',
    http: (cluster) =>
      filter('ext_proc', 'ExternalProcessor', { ...grpc(cluster), message_timeout: TIMEOUT }),
    status: 500,
    also: 504,
  },
  {
    name: 'processor-open',
    protocol: 'grpc',
    http: (cluster) =>
      filter('ext_proc', 'ExternalProcessor', {
        ...grpc(cluster),
        message_timeout: TIMEOUT,
        failure_mode_allow: true,
      }),
    status: 200,
  },
];

export const ASKING_PARTS: readonly AskingPart[] = [
  ...AUTHORISATION,
  ...LIMITS,
  ...TOKENS,
  ...PROCESSORS,
  ...TELEMETRY,
];
