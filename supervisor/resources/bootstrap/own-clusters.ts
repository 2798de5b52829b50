/**
 * Which static clusters this server itself may speak gRPC with: those alone may have HTTP/2, since
 * requests of clients reach hosts by HTTP/1.1 only.
 */
import type { Bootstrap } from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';

/**
 * Those that gRPC services and sources by REST in the bootstrap name. Where listeners come from
 * elsewhere, their access logs may name any: then also those that no listener of the bootstrap
 * names.
 */
export function ownClusters(message: Bootstrap): ReadonlySet<string> {
  const { dynamic_resources: dynamic, static_resources: resources = {} } = message;
  const { clusters = [], listeners = [] } = resources;
  const services = clusters.map(({ eds_cluster_config: eds, transport_socket: socket }) => ({
    eds,
    socket,
  }));
  const names = serviceClusters([dynamic, message.layered_runtime, listeners, services]);
  if (dynamic?.lds_config === undefined) return names;
  const routed = routedClusters(listeners);
  for (const { name = '' } of clusters) if (!routed.has(name)) names.add(name);
  return names;
}

function serviceClusters(parts: object): Set<string> {
  const names = new Set<string>();
  visit(parts, (key, value) => {
    // Of a source by REST.
    if (key === 'cluster_names') for (const each of value as readonly string[]) names.add(each);
    const name = key === 'envoy_grpc' ? (value as { cluster_name?: unknown }).cluster_name : '';
    if (typeof name === 'string' && name !== '') names.add(name);
  });
  return names;
}

function routedClusters(listeners: object): ReadonlySet<string> {
  const routed = new Set<string>();
  visit(listeners, (key, value) => {
    // Clusters with weights are called by their name alone.
    if ((key === 'cluster' || key === 'name') && typeof value === 'string') routed.add(value);
  });
  return routed;
}

type Visit = (key: string, value: unknown) => void;

function visit(value: unknown, see: Visit): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (item !== null) see(key, item);
    visit(item, see);
  }
}
