/**
 * Everything of a configuration that asks a service: how it is configured for one cluster, and what
 * a client is told where that service fails.
 */
import type { Failure, Protocol } from '../peers/hostile/failing-services.ts';

const EXTENSIONS = 'type.googleapis.com/envoy.extensions';
const TYPE = `${EXTENSIONS}.filters.http`;
const TRACE = 'type.googleapis.com/envoy.config.trace.v3';
/** As long as any of them waits. */
const TIMEOUT = '0.4s';

/** A failure, or that the cluster is taken away before or while a request asks. */
export type Trouble = Failure | 'leaving' | 'gone';

export interface AskingPart {
  readonly name: string;
  readonly protocol: Protocol;
  /** The HTTP filter in front of the router. */
  http?(cluster: string): object;
  /** The network filter in front of the TCP proxy. */
  network?(cluster: string): object;
  /** Fields of the connection manager. */
  hcm?(cluster: string): object;
  /** What a client gets; of a network filter 200 for an echo and 0 for a closed connection. */
  readonly status: number;
  /** Where its own time is over before the service has failed. */
  readonly also?: number;
  readonly except?: Partial<Readonly<Record<Trouble, number>>>;
  /** Of the client's request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Statistics that count each failure; `NAME` is the listener's. */
  readonly counted?: string;
}

function filter(name: string, message: string, config: object): object {
  return {
    name: `envoy.filters.http.${name}`,
    typed_config: { '@type': `${TYPE}.${name}.v3.${message}`, ...config },
  };
}

const grpc = (cluster: string): object => ({
  grpc_service: { envoy_grpc: { cluster_name: cluster }, timeout: TIMEOUT },
});
const uri = (cluster: string, path = '/'): object => ({
  uri: `http://service.test${path}`,
  cluster,
  timeout: TIMEOUT,
});
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
    typed_config: { '@type': type, stat_prefix: 'NAME', ...service, ...config },
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

const LIMITS: readonly AskingPart[] = [
  limit('limit', {}),
  { ...limit('limit-deny', { failure_mode_deny: true }), status: 500 },
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

const PROCESSORS: readonly AskingPart[] = [
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

function tracer(name: string, message: string, config: object): object {
  return {
    tracing: {
      provider: {
        name: `envoy.tracers.${name}`,
        typed_config: { '@type': `${TRACE}.${message}`, ...config },
      },
    },
  };
}

function accessLog(name: string, message: string, config: object): object {
  const type = `${EXTENSIONS}.access_loggers.${message}`;
  return {
    access_log: [
      { name: `envoy.access_loggers.${name}`, typed_config: { '@type': type, ...config } },
    ],
  };
}

/** A tracer or a logger, which no client notices. */
const quiet = (
  name: string,
  protocol: Protocol,
  hcm: (cluster: string) => object,
  counted?: string,
): AskingPart => ({
  name,
  protocol,
  hcm,
  status: 200,
  ...(counted === undefined ? {} : { counted }),
});

const common = (cluster: string): object => ({
  common_config: {
    log_name: cluster,
    transport_api_version: 'V3',
    buffer_flush_interval: '0.02s',
    ...grpc(cluster),
  },
});

const TELEMETRY: readonly AskingPart[] = [
  quiet('zipkin', 'http', (cluster) =>
    tracer('zipkin', 'ZipkinConfig', {
      collector_cluster: cluster,
      collector_endpoint: '/spans',
      collector_endpoint_version: 'HTTP_JSON',
    }),
  ),
  quiet('datadog', 'http', (cluster) =>
    tracer('datadog', 'DatadogConfig', { collector_cluster: cluster, service_name: 's' }),
  ),
  quiet('spans-http', 'http', (cluster) =>
    tracer('opentelemetry', 'OpenTelemetryConfig', { http_service: { http_uri: uri(cluster) } }),
  ),
  quiet('spans-grpc', 'grpc', (cluster) =>
    tracer('opentelemetry', 'OpenTelemetryConfig', grpc(cluster)),
  ),
  quiet('skywalking', 'grpc', (cluster) =>
    tracer('skywalking', 'SkyWalkingConfig', {
      ...grpc(cluster),
      client_config: { service_name: 's', instance_name: 'i' },
    }),
  ),
  quiet('log-grpc', 'grpc', (cluster) =>
    accessLog('http_grpc', 'grpc.v3.HttpGrpcAccessLogConfig', common(cluster)),
  ),
  quiet('log-records', 'grpc', (cluster) =>
    accessLog('open_telemetry', 'open_telemetry.v3.OpenTelemetryAccessLogConfig', {
      ...grpc(cluster),
      buffer_flush_interval: '0.02s',
    }),
  ),
  quiet('log-records-http', 'http', (cluster) =>
    accessLog('open_telemetry', 'open_telemetry.v3.OpenTelemetryAccessLogConfig', {
      http_service: { http_uri: uri(cluster) },
      buffer_flush_interval: '0.02s',
    }),
  ),
];

export const ASKING_PARTS: readonly AskingPart[] = [
  ...AUTHORISATION,
  ...LIMITS,
  ...TOKENS,
  ...PROCESSORS,
  ...TELEMETRY,
];

/** Sinks of statistics for one cluster. */
export function sinkFor(cluster: string, protocol: Protocol): object {
  if (protocol === 'grpc') {
    return {
      name: 'envoy.stat_sinks.metrics_service',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.config.metrics.v3.MetricsServiceConfig',
        transport_api_version: 'V3',
        ...grpc(cluster),
      },
    };
  }
  return {
    name: 'envoy.stat_sinks.open_telemetry',
    typed_config: {
      '@type': `${EXTENSIONS}.stat_sinks.open_telemetry.v3.SinkConfig`,
      http_service: { http_uri: uri(cluster, '/v1/metrics') },
    },
  };
}
