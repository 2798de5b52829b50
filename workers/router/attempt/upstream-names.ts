/** The names of a request's host that TLS towards it uses, where its cluster says so. */
import { isIP } from '../../../shared/addresses/ip-text.ts';
import { parseAuthority } from '../../../shared/addresses/authority.ts';
import type { UpstreamHttpOptions } from '../../../shared/resources/clusters/cluster.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { UpstreamNames } from '../../tls/upstream-tls.ts';

/**
 * Undefined: what the cluster has configured holds for every request. An address is no server name.
 */
export function upstreamNames(
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
