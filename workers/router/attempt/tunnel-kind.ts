/** Whether a route takes a request's payload out of HTTP, and as what it goes on. */
import type { UpgradeConfig } from '../../../shared/resources/routes/route.ts';
import { isConnectUdp } from '../../routing/path-matcher.ts';
import type { HeaderMap } from '../../stream/header-map.ts';

export function tunnelOf(
  upgrades: readonly UpgradeConfig[],
  headers: HeaderMap,
): 'tcp' | 'udp' | undefined {
  if (!upgrades.some(({ terminateConnect }) => terminateConnect)) return undefined;
  if (isConnectUdp(headers)) return 'udp';
  const { method } = headers;
  if (method !== 'CONNECT' && method !== 'POST') return undefined;
  const isTaken = upgrades.some(
    ({ type, terminateConnect, allowPost }) =>
      type === 'connect' && terminateConnect && (method === 'CONNECT' || allowPost),
  );
  return isTaken ? 'tcp' : undefined;
}
