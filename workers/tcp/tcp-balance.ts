/** What the choice of a host may depend on for a connection of a TCP proxy. */
import type { TcpProxy } from '../../shared/resources/filters/network/tcp-proxy.ts';
import { addMetadata } from '../filters/common/add-metadata.ts';
import { type Hash64, xxHash64 } from '../hash/xxhash64.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { filterStateOf, hashedFilterStateOf, type StreamInfo } from '../stream/stream-info.ts';
import type { BalanceContext } from '../upstream/balancing/load-balancer.ts';
import type { SubsetCriteria } from '../stream/route.ts';

/** Balancing by headers finds none here, and no host is refused. */
const NO_HEADERS = new HeaderMap();

export function balanceOf(
  info: StreamInfo,
  policy: TcpProxy['hashPolicy'],
  subset: SubsetCriteria | undefined,
): BalanceContext {
  return {
    requestHeaders: NO_HEADERS,
    maxHostDraws: 0,
    refusesHost: () => false,
    computeHash: () => hashOf(info, policy),
    subset,
    serverName: info.connection.requestedServerName,
    filterState: (key) => filterStateOf(info, key),
    dynamicMetadata: info.dynamicMetadata,
    addMetadata: (namespace, value) => addMetadata(info, namespace, value),
    originalDestination: info.connection.originalDestination,
  };
}

function hashOf(info: StreamInfo, policy: TcpProxy['hashPolicy']): Hash64 | undefined {
  if (policy === undefined) return undefined;
  if (policy.kind === 'source_ip') {
    const { kind, ip } = info.connection.remoteAddress;
    return kind === 'ip' ? xxHash64(ip) : undefined;
  }
  const value = hashedFilterStateOf(info, policy.key);
  return value === undefined ? undefined : xxHash64(value);
}
