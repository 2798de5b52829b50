/** What filters keep for TLS towards hosts: the name to send and the protocols to offer. */
import type { ConnectionInfo } from '../../net/connection-info.ts';
import type { UpstreamNames } from '../../tls/upstream-tls.ts';

const SERVER_NAME_KEY = 'envoy.network.upstream_server_name';
export const PROTOCOLS_KEY = 'envoy.network.application_protocols';

/** Undefined: nothing is kept. */
export function keptNames(
  filterState: (key: string) => string | undefined,
): UpstreamNames | undefined {
  const serverName = filterState(SERVER_NAME_KEY) ?? '';
  const protocols = filterState(PROTOCOLS_KEY)?.split(',').filter(isProtocol);
  const offersOthers = protocols !== undefined && protocols.length > 0;
  if (serverName === '' && !offersOthers) return undefined;
  return { serverName, expectedName: '', protocols: offersOthers ? protocols : undefined };
}

/** The same of a connection whose bytes go to a host as they are. */
export function keptNamesOf({ filterState }: ConnectionInfo): UpstreamNames | undefined {
  return filterState && keptNames((key) => filterState.get(key));
}

/** TLS has a byte for its length. */
function isProtocol(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) < 256;
}
