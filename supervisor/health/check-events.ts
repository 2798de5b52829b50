/** What the event log of health checks says. Source: envoy.data.core.v3.HealthCheckEvent. */
import type { CheckEvent } from '../../shared/health/check-event.ts';
import type { HostAddress, HostResource } from '../../shared/resources/clusters/cluster.ts';
import type { HealthCheckResource } from '../../shared/resources/clusters/health-check.ts';

const CHECKER_TYPES = { http: 'HTTP', tcp: 'TCP', grpc: 'GRPC', redis: 'REDIS' } as const;

interface EventContext {
  readonly cluster: string;
  readonly host: HostResource;
  readonly check: HealthCheckResource;
  readonly wallMs: number;
  /** Hosts found by their names have some, if none. */
  readonly alwaysHasMetadata: boolean;
}

/** In the order in which Envoy prints the fields. */
export function checkEventMessage(event: CheckEvent, context: EventContext): object {
  const { cluster, host, check, wallMs } = context;
  const time = { timestamp: new Date(wallMs).toISOString() };
  const body = eventBody(event);
  const metadata = host.metadata ?? (context.alwaysHasMetadata ? {} : undefined);
  const place = { ...metadataMessage(metadata), locality: localityMessage(host) };
  return {
    health_checker_type: CHECKER_TYPES[check.probe.kind],
    host: addressMessage(host.address),
    cluster_name: cluster,
    ...inOrder(event.kind, { body, time, place }),
  };
}

function localityMessage({ region, zone, subZone }: HostResource): object {
  return { region, zone, sub_zone: subZone };
}

function metadataMessage(metadata: HostResource['metadata']): object {
  if (metadata === undefined) return {};
  return { metadata: { filter_metadata: metadata, typed_filter_metadata: {} } };
}

/** The numbers of the fields decide. */
function inOrder(
  kind: CheckEvent['kind'],
  { body, time, place }: { readonly body: object; readonly time: object; readonly place: object },
): object {
  if (kind === 'eject_unhealthy' || kind === 'add_healthy') return { ...body, ...time, ...place };
  return kind === 'success' ? { ...time, ...place, ...body } : { ...time, ...body, ...place };
}

function eventBody(event: CheckEvent): object {
  switch (event.kind) {
    case 'eject_unhealthy':
      return {
        eject_unhealthy_event: {
          failure_type: event.failureType,
          http_status_code: event.status,
        },
      };
    case 'add_healthy':
      return { add_healthy_event: { first_check: event.isFirst } };
    case 'failure':
      return {
        health_check_failure_event: {
          failure_type: event.failureType,
          first_check: event.isFirst,
          http_status_code: event.status,
        },
      };
    case 'success':
      return { successful_health_check_event: {} };
    case 'degraded':
      return { degraded_healthy_host: {} };
    case 'no_longer_degraded':
      return { no_longer_degraded_host: {} };
  }
}

function addressMessage(address: HostAddress): object {
  if (address.kind === 'pipe') return { pipe: { path: address.path, mode: 0 } };
  if (address.kind === 'internal') {
    return {
      envoy_internal_address: {
        server_listener_name: address.listener,
        endpoint_id: address.endpointId,
      },
    };
  }
  return {
    socket_address: {
      protocol: 'TCP',
      address: address.address,
      port_value: address.port,
      resolver_name: '',
      ipv4_compat: false,
      network_namespace_filepath: '',
    },
  };
}
