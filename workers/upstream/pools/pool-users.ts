/** Whose requests the connections of a pool serve, where not everybody's. */
import type { ConnectionInfo } from '../../net/connection-info.ts';
import type { SharedValue } from '../../net/mesh/shared-state.ts';
import type { UpstreamNames } from '../../tls/upstream-tls.ts';

export interface PoolUsers {
  /** The client that the host is told of; undefined: it is told of nobody. */
  readonly client: ConnectionInfo | undefined;
  /** What they call the host; undefined: nobody is asked. */
  readonly names: UpstreamNames | undefined;
  /** What a listener inside is told of them; absent: nothing. */
  readonly shared?: readonly SharedValue[] | undefined;
}

export const EVERYBODY: PoolUsers = { client: undefined, names: undefined };

/**
 * What connections have to agree in to carry requests of these users; `isOfOne`: of one connection.
 */
export function poolKey({ client, names, shared }: PoolUsers, isOfOne: boolean): string {
  // What a client added to its PROXY header is nobody else's, even from one address.
  const isApart = isOfOne || (client?.proxyTlvs ?? []).length > 0;
  const whose = isApart
    ? [`#${client?.id}`]
    : [client?.remoteAddress.text, client?.localAddress.text];
  const protocols = names?.protocols?.join();
  return [
    ...whose,
    names?.serverName,
    names?.expectedName,
    protocols,
    shared && JSON.stringify(shared),
  ].join(' ');
}
