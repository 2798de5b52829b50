/**
 * Resolves the transport sockets of a cluster: its own, and those for hosts with certain metadata.
 */
import { structOf } from '../../../shared/text/dictionary.ts';
import type {
  Cluster,
  Cluster_TransportSocketMatch as MatchMessage,
} from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { ClusterResource, SocketMatch } from '../../../shared/resources/clusters/cluster.ts';
import type { UpstreamSocketOptions } from '../../../shared/resources/transport-sockets.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { resolveUpstreamSocket } from '../transport-sockets/transport-sockets.ts';
import { optional } from '../values.ts';

const MATCH_FIELDS = knownFields<MatchMessage>(['name', 'match', 'transport_socket']);

export function resolveSockets(
  message: Cluster,
  scope: Scope,
): UpstreamSocketOptions & Pick<ClusterResource, 'socketMatches'> {
  const own = resolveUpstreamSocket(message.transport_socket, scope.at('transport_socket'));
  const matches = message.transport_socket_matches?.map((each, index) =>
    resolveMatch(each, scope.at('transport_socket_matches', index)),
  );
  return { ...own, ...optional('socketMatches', matches) };
}

function resolveMatch(message: MatchMessage, scope: Scope): SocketMatch {
  refuseOtherFields(message, MATCH_FIELDS, scope);
  return {
    name: message.name ?? '',
    criteria: structOf(message.match ?? {}),
    ...resolveUpstreamSocket(message.transport_socket, scope.at('transport_socket')),
  };
}
