/** Which requests want to switch protocols, and whether route and connection manager let them. */
import type { HttpConnectionManager } from '../../shared/resources/listener.ts';
import type { ResolvedRoute } from '../stream/route.ts';
import type { HeaderMap } from '../stream/header-map.ts';

/** Lower-case protocol that the request wants to switch to, `connect` for CONNECT, '' for none. */
export function upgradeType(headers: HeaderMap): string {
  if (headers.method === 'CONNECT') return 'connect';
  return headers.get('upgrade')?.toLowerCase() ?? '';
}

/** What the route says of this protocol counts before what the connection manager says. */
export function allowsUpgrade(
  type: string,
  route: ResolvedRoute | undefined,
  ofManager: HttpConnectionManager['upgrades'],
): boolean {
  const own = route?.kind === 'cluster' ? route.action.upgrades : [];
  const decisive = own.find((upgrade) => upgrade.type === type);
  return (decisive ?? ofManager.find((upgrade) => upgrade.type === type))?.enabled ?? false;
}
