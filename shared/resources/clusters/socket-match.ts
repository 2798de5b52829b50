/**
 * Which transport socket a host's connections use, where the cluster chooses by the host's
 * metadata.
 */
import { memberOf } from '../../text/dictionary.ts';
import { isDeepStrictEqual } from 'node:util';
import type { UpstreamSocketOptions } from '../transport-sockets.ts';
import type { ClusterResource, HostResource } from './cluster.ts';

export const SOCKET_MATCH_NAMESPACE = 'envoy.transport_socket_match';

/** The name in the statistics for hosts that no match is for. */
export const NO_MATCH = 'default';

export interface ChosenSocket extends UpstreamSocketOptions {
  readonly name: string;
}

/**
 * The first match whose criteria all stand in the host's metadata, else the cluster's own socket.
 */
export function socketOf(
  cluster: ClusterResource,
  { metadata }: Pick<HostResource, 'metadata'>,
): ChosenSocket {
  const given = metadata?.[SOCKET_MATCH_NAMESPACE];
  const found = cluster.socketMatches?.find(({ criteria }) =>
    Object.entries(criteria).every(([key, value]) =>
      isDeepStrictEqual(memberOf(given, key), value),
    ),
  );
  return found ?? { ...cluster, name: NO_MATCH };
}
