/** Tracers, loggers and sinks that send to a service. */
import type { Protocol } from '../peers/hostile/failing-services.ts';
import { type AskingPart, EXTENSIONS, grpc, uri } from './asking-part.ts';

const TRACE = 'type.googleapis.com/envoy.config.trace.v3';

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

export const TELEMETRY: readonly AskingPart[] = [
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
  {
    name: 'log-tcp',
    protocol: 'grpc',
    tcp: (cluster) => accessLog('tcp_grpc', 'grpc.v3.TcpGrpcAccessLogConfig', common(cluster)),
    status: 200,
  },
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
