/** A configuration with a secret of its own in each place that may have one. */
import { createHash } from 'node:crypto';
import { bootstrap, httpListener, staticCluster } from '../parts/bootstrap.ts';
import type { TestCertificate } from '../parts/certificates.ts';
import { secureListener, tlsSocket } from '../parts/tls.ts';
import { filterListener, networkFilter } from '../parts/tcp-listener.ts';
import { grpcCluster } from '../peers/services/asked-services.ts';

const EXTENSIONS = 'type.googleapis.com/envoy.extensions';
const HTTP = `${EXTENSIONS}.filters.http`;

/** Distinct, and in no other text. */
export const planted = (place: string): string => `planted7f3a-${place}-9c1d`;

/** Places of the configuration that Envoy's own `/config_dump` hides, so that every page must. */
export const HIDDEN = [
  'oauth-token',
  'oauth-hmac',
  'injected',
  'basic-hash',
  'api-key',
  'aws-key',
  'aws-session',
  'ticket-key',
  'redis-client',
  'redis-host',
  'config-yaml',
  'refused-listener',
] as const;

/** Places that the API does not mark: `/config_dump` shows them as Envoy's does, and nothing else. */
export const DUMPED = [
  'jwks-shared',
  'jwks-private',
  'authz-header',
  'authz-metadata',
  'google-token',
  'route-header',
  'probe-header',
  'span-header',
  'log-metadata',
  'sink-metadata',
  'limit-metadata',
] as const;

const ROUTER = { name: 'router', typed_config: { '@type': `${HTTP}.router.v3.Router` } };
const ROUTES = [{ match: { prefix: '/' }, route: { cluster: 'up', timeout: '2s' } }];

function http(name: string, message: string, config: object): object {
  return { name, typed_config: { '@type': `${HTTP}.${message}`, ...config } };
}

const header = (place: string, key = 'authorization'): object => ({
  header: { key, value: `Token ${planted(place)}` },
});
const metadata = (place: string): object => ({
  initial_metadata: [{ key: 'authorization', value: `Token ${planted(place)}` }],
});
const behind = (filter: object, hcm: object = {}): object => ({
  http_filters: [filter, ROUTER],
  ...hcm,
});
const closed = (place: string): object => ({
  grpc_service: {
    envoy_grpc: { cluster_name: 'closed' },
    timeout: '0.2s',
    ...metadata(place),
  },
});

export const PASSWORD = planted('basic-password');
const HASH = createHash('sha1').update(PASSWORD).digest('base64');
/** What stands for `basic-hash` in the configuration. */
export const PASSWORD_HASH = `{SHA}${HASH}`;

/** 80 bytes, as a ticket key has to be. */
const TICKET_KEY = Buffer.from(planted('ticket-key').padEnd(80, '.')).toString('base64');

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
function managers(publicKey: object): Readonly<Record<string, object>> {
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

const ACCESS_LOG = (path: string): object => ({
  name: 'envoy.access_loggers.file',
  typed_config: { '@type': `${EXTENSIONS}.access_loggers.file.v3.FileAccessLog`, path },
});

export interface PlantedParties {
  readonly upPort: number;
  readonly logPath: string;
  readonly certificate: TestCertificate;
  /** A JWK. */
  readonly publicKey: object;
}

function redisListener(): object {
  const proxy = networkFilter('redis_proxy', 'redis_proxy.v3.RedisProxy', {
    stat_prefix: 'redis',
    settings: { op_timeout: '0.2s' },
    prefix_routes: { catch_all_route: { cluster: 'redis' } },
    downstream_auth_passwords: [{ inline_string: planted('redis-client') }],
  });
  return filterListener([proxy], { name: 'redis' });
}

function secure({ cert, key }: TestCertificate): object {
  const pair = { certificate_chain: { inline_string: cert }, private_key: { inline_string: key } };
  const socket = tlsSocket('Downstream', {
    common_tls_context: { tls_certificates: [pair] },
    session_ticket_keys: { keys: [{ inline_bytes: TICKET_KEY }] },
  });
  return { ...secureListener(ROUTES, socket), name: 'secure' };
}

function clusters(upPort: number): readonly object[] {
  const redis = {
    '@type': `${EXTENSIONS}.filters.network.redis_proxy.v3.RedisProtocolOptions`,
    auth_password: { inline_string: planted('redis-host') },
  };
  const probe = {
    timeout: '1s',
    interval: '1s',
    unhealthy_threshold: 1,
    healthy_threshold: 1,
    http_health_check: { path: '/probe', request_headers_to_add: [header('probe-header')] },
  };
  return [
    staticCluster('up', [upPort]),
    staticCluster('probed', [upPort], { health_checks: [probe] }),
    grpcCluster('closed', 1),
    staticCluster('redis', [upPort], {
      typed_extension_protocol_options: { 'envoy.filters.network.redis_proxy': redis },
    }),
  ];
}

export function plantedBootstrap(parties: PlantedParties): object {
  const made = Object.entries(managers(parties.publicKey)).map(([name, hcm]) => {
    const access_log = [ACCESS_LOG(parties.logPath)];
    const limits = [{ actions: [{ generic_key: { descriptor_value: 'v' } }] }];
    const [route] = ROUTES;
    const routes = [
      {
        ...route,
        route: { ...route?.route, rate_limits: limits },
        request_headers_to_add: [header('route-header', 'x-api-key')],
      },
    ];
    return httpListener(routes, { name, statPrefix: name, hcm: { access_log, ...hcm } });
  });
  const sink = {
    '@type': 'type.googleapis.com/envoy.config.metrics.v3.MetricsServiceConfig',
    transport_api_version: 'V3',
    ...closed('sink-metadata'),
  };
  const base = bootstrap({
    listeners: [...made, redisListener(), secure(parties.certificate)],
    clusters: clusters(parties.upPort),
  }) as { readonly static_resources: object };
  const secrets = ['oauth-token', 'oauth-hmac', 'injected'].map((name) => ({
    name,
    generic_secret: { secret: { inline_string: planted(name) } },
  }));
  return {
    ...base,
    static_resources: { ...base.static_resources, secrets },
    node: { id: 'n', cluster: 'c' },
    stats_flush_interval: '0.2s',
    stats_sinks: [{ name: 'envoy.stat_sinks.metrics_service', typed_config: sink }],
    layered_runtime: {
      layers: [
        {
          name: 'flushes',
          static_layer: {
            'tracing.zipkin.min_flush_spans': 1,
            'tracing.opentelemetry.min_flush_spans': 1,
          },
        },
      ],
    },
  };
}

/** What `--config-yaml` adds. */
export const CONFIG_YAML = JSON.stringify({
  static_resources: {
    secrets: [
      {
        name: 'by-command-line',
        generic_secret: { secret: { inline_string: planted('config-yaml') } },
      },
    ],
  },
});

/** A listener that is refused: its hash is of another kind. */
export const REFUSED_LISTENER = {
  '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
  ...httpListener(ROUTES, {
    name: 'refused',
    hcm: behind(
      http('basic', 'basic_auth.v3.BasicAuth', {
        users: { inline_string: `me:{MD5}${planted('refused-listener')}\n` },
      }),
    ),
  }),
};
