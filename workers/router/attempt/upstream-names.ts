/** What a request asks of TLS towards its host, by its cluster's rules or by what filters keep. */
import { isIP } from '../../../shared/addresses/ip-text.ts';
import { parseAuthority } from '../../../shared/addresses/authority.ts';
import type { UpstreamHttpOptions } from '../../../shared/resources/clusters/cluster.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { filterStateOf, type StreamInfo } from '../../stream/stream-info.ts';
import { keptNames } from '../../upstream/pools/kept-names.ts';
import type { UpstreamNames } from '../../tls/upstream-tls.ts';

/**
 * Undefined: what the cluster has configured holds for every request. An address is no server name.
 * What a filter keeps comes before what the request says of its host, as in Envoy.
 */
export function upstreamNames(
  options: Pick<UpstreamHttpOptions, 'names'>,
  headers: HeaderMap,
  info: StreamInfo,
): UpstreamNames | undefined {
  const asked = requestedNames(options, headers);
  const kept =
    info.filterState === undefined && info.connection.filterState === undefined
      ? undefined
      : keptNames((key) => filterStateOf(info, key));
  if (kept === undefined) return asked;
  const { serverName = '', expectedName = '' } = asked ?? {};
  return { ...kept, serverName: kept.serverName || serverName, expectedName };
}

function requestedNames(
  { names }: Pick<UpstreamHttpOptions, 'names'>,
  headers: HeaderMap,
): UpstreamNames | undefined {
  if (names === undefined) return undefined;
  const { overrideHeader, sendsName, checksName } = names;
  const overriding = overrideHeader === undefined ? undefined : headers.get(overrideHeader);
  const { host } = parseAuthority(overriding ?? headers.authority, 0);
  const name = host.toLowerCase();
  return {
    serverName: sendsName && isIP(name) === 0 ? name : '',
    expectedName: checksName ? name : '',
  };
}
