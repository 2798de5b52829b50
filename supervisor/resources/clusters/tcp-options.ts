/**
 * Resolves what a cluster says of connections as such: how long one of a TCP proxy waits for its
 * client, and the network filters that its bytes pass.
 */
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { TcpProtocolOptions } from '../../../shared/api/generated/envoy/extensions/upstreams/tcp/v3/tcp_protocol_options.ts';
import type { Any } from '../../../shared/api/well-known.ts';
import type { ClusterResource } from '../../../shared/resources/clusters/cluster.ts';
import type { Scope } from '../scope.ts';
import { resolveClusterNetworkFilters } from './network-filters.ts';
import { durationMsOr } from '../values.ts';

export const TCP_EXTENSION = 'envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions';

const IDLE_TIMEOUT_MS = 600_000;

export function resolveTcpOptions(
  message: Cluster,
  scope: Scope,
): Pick<ClusterResource, 'tcpIdleTimeoutMs' | 'metadataExchange'> {
  const typed: (Any & TcpProtocolOptions) | undefined =
    message.typed_extension_protocol_options?.[TCP_EXTENSION];
  return {
    tcpIdleTimeoutMs: durationMsOr(typed?.idle_timeout, IDLE_TIMEOUT_MS),
    ...resolveClusterNetworkFilters(message, scope),
  };
}
