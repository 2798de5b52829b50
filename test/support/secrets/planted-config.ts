/** A configuration with a secret of its own in each place that may have one. */
import { bootstrap, httpListener, staticCluster } from '../parts/bootstrap.ts';
import type { TestCertificate } from '../parts/certificates.ts';
import { secureListener, tlsSocket } from '../parts/tls.ts';
import { filterListener, networkFilter } from '../parts/tcp-listener.ts';
import { grpcCluster } from '../peers/services/asked-services.ts';
import { behind, closed, header, http, managers, ROUTES } from './planted-managers.ts';
import { planted } from './planted-names.ts';

const EXTENSIONS = 'type.googleapis.com/envoy.extensions';

/** 80 bytes, as a ticket key has to be. */
const TICKET_KEY = Buffer.from(planted('ticket-key').padEnd(80, '.')).toString('base64');

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
