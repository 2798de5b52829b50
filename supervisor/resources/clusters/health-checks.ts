/** Resolves envoy.config.core.v3.HealthCheck: how workers ask hosts whether they are well. */
import { structOf } from '../../../shared/text/dictionary.ts';
import type { Endpoint } from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint_components.ts';
import type { HealthCheck } from '../../../shared/api/generated/envoy/config/core/v3/health_check.ts';
import type { HealthCheckEventFileSink } from '../../../shared/api/generated/envoy/extensions/health_check/event_sinks/file/v3/file.ts';
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import type { HealthCheckResource } from '../../../shared/resources/clusters/health-check.ts';
import { resolveAddress } from '../addresses.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveProbe } from './health-probes.ts';
import type { Scope } from '../scope.ts';
import { durationMs, durationMsOr, optional } from '../values.ts';
import { checkWritable } from '../writable-file.ts';

const FIELDS = knownFields<HealthCheck>([
  'timeout',
  'interval',
  'initial_jitter',
  'interval_jitter',
  'interval_jitter_percent',
  'unhealthy_threshold',
  'healthy_threshold',
  'alt_port',
  'reuse_connection',
  'http_health_check',
  'tcp_health_check',
  'grpc_health_check',
  'custom_health_check',
  'no_traffic_interval',
  'no_traffic_healthy_interval',
  'unhealthy_interval',
  'unhealthy_edge_interval',
  'healthy_edge_interval',
  'event_log_path',
  'event_logger',
  'event_service',
  'always_log_health_check_failures',
  'always_log_health_check_success',
  'name',
  'tls_options',
  'transport_socket_match_criteria',
]);
export const EVENT_SINKS = new ExtensionRegistry<string>(
  'envoy.health_check.event_sinks',
  'health check event sink',
  [
    extension(
      'envoy.health_check.event_sink.file',
      'envoy.extensions.health_check.event_sinks.file.v3.HealthCheckEventFileSink',
      ({ event_log_path: path = '' }: HealthCheckEventFileSink, scope) => {
        if (path !== '') checkWritable(path, scope.at('event_log_path'));
        return path === '' ? undefined : path;
      },
    ),
  ],
);
const NO_TRAFFIC_INTERVAL_MS = 60_000;
/** Undefined without checks. */
export function resolveHealthChecks(
  messages: readonly HealthCheck[] = [],
  scope: Scope,
): readonly HealthCheckResource[] | undefined {
  if (messages.length > 1) checkNames(messages, scope);
  const resolved = messages.flatMap((message, index) => resolveOne(message, scope.at(index)) ?? []);
  return resolved.length === 0 ? undefined : resolved;
}

function checkNames(messages: readonly HealthCheck[], scope: Scope): void {
  const names = new Set<string>();
  for (const [index, { name = '' }] of messages.entries()) {
    if (name === '') {
      scope.error(
        'conflict',
        `health check at index ${index} is missing a name; all health checks must have a name when multiple health checks are configured`,
      );
      return;
    }
    if (names.has(name)) {
      scope.error(
        'conflict',
        `duplicate health check name '${name}' at index ${index}; all health check names must be unique within a cluster`,
      );
      return;
    }
    names.add(name);
  }
}

function resolveOne(message: HealthCheck, scope: Scope): HealthCheckResource | undefined {
  refuseOtherFields(message, FIELDS, scope);
  warnOfIgnored(message, scope);
  const probe = resolveProbe(message, scope);
  if (probe === undefined) return undefined;
  const intervalMs = durationMsOr(message.interval, 0);
  const unhealthyIntervalMs = durationMsOr(message.unhealthy_interval, intervalMs);
  const noTrafficIntervalMs = durationMsOr(message.no_traffic_interval, NO_TRAFFIC_INTERVAL_MS);
  const { transport_socket_match_criteria: criteria, name = '' } = message;
  const alpn = message.tls_options?.alpn_protocols;
  return {
    ...optional('name', name === '' ? undefined : name),
    ...optional('socketCriteria', criteria && structOf(criteria)),
    ...optional('alpn', alpn === undefined || alpn.length === 0 ? undefined : alpn),
    timeoutMs: durationMsOr(message.timeout, 0),
    intervalMs,
    unhealthyIntervalMs,
    healthyEdgeIntervalMs: durationMsOr(message.healthy_edge_interval, intervalMs),
    unhealthyEdgeIntervalMs: durationMsOr(message.unhealthy_edge_interval, unhealthyIntervalMs),
    noTrafficIntervalMs,
    noTrafficHealthyIntervalMs: durationMsOr(
      message.no_traffic_healthy_interval,
      noTrafficIntervalMs,
    ),
    initialJitterMs: message.initial_jitter === undefined ? 0 : durationMs(message.initial_jitter),
    intervalJitterMs: durationMsOr(message.interval_jitter, 0),
    intervalJitterPercent: message.interval_jitter_percent ?? 0,
    unhealthyThreshold: message.unhealthy_threshold ?? 1,
    healthyThreshold: message.healthy_threshold ?? 1,
    reuseConnection: message.reuse_connection ?? true,
    ...(hasEventLog(message)
      ? {
          eventLog: {
            failures: message.always_log_health_check_failures === true,
            successes: message.always_log_health_check_success === true,
          },
        }
      : {}),
    probe,
  };
}

function warnOfIgnored(message: HealthCheck, scope: Scope): void {
  for (const field of ['alt_port', 'event_service'] as const) {
    if (message[field] === undefined) continue;
    scope.at(field).warning('no_effect', `'${field}' has no effect, as in Envoy`);
  }
}

function hasEventLog({
  event_log_path: path = '',
  event_logger: loggers = [],
}: HealthCheck): boolean {
  return path !== '' || loggers.length > 0;
}

/** By check, the files that get its events. */
export function resolveCheckEventLogs(
  messages: readonly HealthCheck[] = [],
  scope: Scope,
): readonly (readonly string[])[] {
  return messages.map(({ event_log_path: path = '', event_logger: loggers = [] }, index) => {
    if (path !== '') checkWritable(path, scope.at(index, 'event_log_path'));
    const sinks = loggers.flatMap(
      (logger, at) => EVENT_SINKS.resolve(logger, scope.at(index, 'event_logger', at)) ?? [],
    );
    return path === '' ? sinks : [path, ...sinks];
  });
}

const ENDPOINT_CHECK_FIELDS = knownFields<NonNullable<Endpoint['health_check_config']>>([
  'port_value',
  'hostname',
  'address',
  'disable_active_health_check',
]);

/** What an endpoint says about its own checks. */
export function resolveEndpointCheck(
  message: Endpoint['health_check_config'],
  isPipe: boolean,
  scope: Scope,
): Pick<HostResource, 'check'> {
  if (message === undefined) return {};
  refuseOtherFields(message, ENDPOINT_CHECK_FIELDS, scope);
  const { port_value: port, hostname, disable_active_health_check: isDisabled } = message;
  if (isPipe && port !== undefined && port !== 0) {
    scope.error('conflict', 'Invalid host configuration: non-zero port for non-IP address');
  }
  const resolved =
    message.address === undefined
      ? undefined
      : resolveAddress(message.address, scope.at('address'))?.address;
  const check = {
    ...optional('port', port === 0 ? undefined : port),
    ...optional('hostname', hostname === '' ? undefined : hostname),
    ...optional('address', resolved),
    ...(isDisabled === true ? { isDisabled: true as const } : {}),
  };
  return Object.keys(check).length === 0 ? {} : { check };
}
