/** Connection managers whose filters, tracers and loggers have a secret each. */
import { PASSWORD_HASH, planted } from './planted-names.ts';

const EXTENSIONS = 'type.googleapis.com/envoy.extensions';
const HTTP = `${EXTENSIONS}.filters.http`;

const ROUTER = { name: 'router', typed_config: { '@type': `${HTTP}.router.v3.Router` } };
export const ROUTES = [{ match: { prefix: '/' }, route: { cluster: 'up', timeout: '2s' } }];

export function http(name: string, message: string, config: object): object {
  return { name, typed_config: { '@type': `${HTTP}.${message}`, ...config } };
}

export const header = (place: string, key = 'authorization'): object => ({
  header: { key, value: `Token ${planted(place)}` },
});
const metadata = (place: string): object => ({
  initial_metadata: [{ key: 'authorization', value: `Token ${planted(place)}` }],
});
export const behind = (filter: object, hcm: object = {}): object => ({
  http_filters: [filter, ROUTER],
  ...hcm,
});
export const closed = (place: string): object => ({
  grpc_service: {
    envoy_grpc: { cluster_name: 'closed' },
    timeout: '0.2s',
    ...metadata(place),
  },
});

const encoded = (text: string): string => Buffer.from(text).toString('base64url');
/** The key of HS256, and a private exponent that has no business in a set of keys. */
function keySet(publicKey: object): string {
  const shared = { kty: 'oct', alg: 'HS256', kid: 'shared', k: encoded(planted('jwks-shared')) };
  const pair = { ...publicKey, kid: 'pair', alg: 'RS256', d: encoded(planted('jwks-private')) };
  return JSON.stringify({ keys: [shared, pair] });
}

const OAUTH2 = {
  config: {
    token_endpoint: { uri: 'http://idp.test/token', cluster: 'up', timeout: '1s' },
    authorization_endpoint: 'http://idp.test/authorize',
    redirect_uri: 'http://%REQ(:authority)%/callback',
    redirect_path_matcher: { path: { exact: '/callback' } },
    signout_path: { path: { exact: '/signout' } },
    forward_bearer_token: true,
    use_refresh_token: true,
    credentials: {
      client_id: 'me',
      token_secret: { name: 'oauth-token' },
      hmac_secret: { name: 'oauth-hmac' },
    },
  },
};

/** Fields of a connection manager, by the listener's name. */
export function managers(publicKey: object): Readonly<Record<string, object>> {
  const zipkin = {
    collector_cluster: 'up',
    collector_endpoint: '/spans',
    collector_endpoint_version: 'HTTP_JSON',
  };
  const aws = {
    access_key_id: 'the-key-id',
    secret_access_key: planted('aws-key'),
    session_token: planted('aws-session'),
  };
  return {
    login: behind(http('oauth2', 'oauth2.v3.OAuth2', OAUTH2)),
    injector: behind(
      http('injector', 'credential_injector.v3.CredentialInjector', {
        credential: {
          name: 'envoy.http.injected_credentials.generic',
          typed_config: {
            '@type': `${EXTENSIONS}.http.injected_credentials.generic.v3.Generic`,
            credential: { name: 'injected' },
          },
        },
      }),
    ),
    basic: behind(
      http('basic', 'basic_auth.v3.BasicAuth', {
        users: { inline_string: `me:${PASSWORD_HASH}\n` },
      }),
    ),
    key: behind(
      http('key', 'api_key_auth.v3.ApiKeyAuth', {
        credentials: [{ key: planted('api-key'), client: 'me' }],
        key_sources: [{ header: 'x-api-key' }],
      }),
    ),
    aws: behind(
      http('aws', 'aws_request_signing.v3.AwsRequestSigning', {
        service_name: 's3',
        region: 'eu-west-1',
        credential_provider: { inline_credential: aws },
      }),
    ),
    tokens: behind(
      http('tokens', 'jwt_authn.v3.JwtAuthentication', {
        providers: {
          p: { issuer: 'i', forward: true, local_jwks: { inline_string: keySet(publicKey) } },
        },
        rules: [{ match: { prefix: '/' }, requires: { provider_name: 'p' } }],
      }),
    ),
    checked: behind(
      http('checked', 'ext_authz.v3.ExtAuthz', {
        http_service: {
          server_uri: { uri: 'http://authz.test', cluster: 'up', timeout: '1s' },
          authorization_request: {
            headers_to_add: [{ key: 'x-secret', value: planted('authz-header') }],
          },
          authorization_response: {
            allowed_upstream_headers: { patterns: [{ exact: 'x-granted' }] },
          },
        },
      }),
    ),
    asked: behind(
      http('asked', 'ext_authz.v3.ExtAuthz', {
        ...closed('authz-metadata'),
        failure_mode_allow: true,
      }),
    ),
    limited: behind(
      http('limited', 'ratelimit.v3.RateLimit', {
        domain: 'shop',
        rate_limit_service: { ...closed('limit-metadata'), transport_api_version: 'V3' },
      }),
    ),
    traced: {
      http_filters: [ROUTER],
      tracing: {
        provider: {
          name: 'envoy.tracers.zipkin',
          typed_config: {
            '@type': 'type.googleapis.com/envoy.config.trace.v3.ZipkinConfig',
            ...zipkin,
          },
        },
      },
    },
    spans: {
      http_filters: [ROUTER],
      tracing: {
        provider: {
          name: 'envoy.tracers.opentelemetry',
          typed_config: {
            '@type': 'type.googleapis.com/envoy.config.trace.v3.OpenTelemetryConfig',
            http_service: {
              http_uri: { uri: 'http://spans.test/v1/traces', cluster: 'up', timeout: '1s' },
              request_headers_to_add: [header('span-header')],
            },
          },
        },
      },
    },
    logged: {
      http_filters: [ROUTER],
      access_log: [
        {
          name: 'envoy.access_loggers.http_grpc',
          typed_config: {
            '@type': `${EXTENSIONS}.access_loggers.grpc.v3.HttpGrpcAccessLogConfig`,
            common_config: {
              log_name: 'l',
              transport_api_version: 'V3',
              buffer_flush_interval: '0.05s',
              ...closed('log-metadata'),
            },
          },
        },
      ],
    },
    google: behind(
      http('google', 'ext_authz.v3.ExtAuthz', {
        failure_mode_allow: true,
        grpc_service: {
          google_grpc: {
            target_uri: '127.0.0.1:1',
            stat_prefix: 'google',
            channel_credentials: { ssl_credentials: {} },
            call_credentials: [{ access_token: planted('google-token') }],
          },
          timeout: '0.2s',
        },
      }),
    ),
  };
}

export const HTTP_LISTENERS = Object.keys(managers({}));
