/** Whether a filter of an operator means a connection. */
import { isIP } from '../../shared/addresses/ip-text.ts';
import { compileIpRanges } from '../../shared/addresses/ip-ranges.ts';
import type { ConnectionFilter } from '../../shared/connections/connections.ts';
import type { Address } from '../net/connection-info.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { OpenConnection } from '../listener/open-connections.ts';
import { idleMsOf, protocolOf } from './describe-connection.ts';

/** What a connection is looked at with. */
interface LookedAt {
  readonly listener: string;
  readonly place: OpenConnection;
  readonly nowMs: number;
}

type Condition = (looked: LookedAt) => boolean;

/** Open requests of one connection that are looked at; a filter does not see what is behind. */
const STREAMS_SEEN_MAX = 1024;

export function compileFilter(filter: ConnectionFilter, worker: number): Condition {
  const { id, listener, protocol, olderThanMs, idleForMs } = filter;
  const conditions: Condition[] = [];
  if (id !== undefined) {
    conditions.push(
      ({ place }) => worker === id.worker && infoOf(place)?.connection.id === id.connection,
    );
  }
  if (listener !== undefined) conditions.push((looked) => looked.listener === listener);
  if (olderThanMs !== undefined) {
    conditions.push(
      ({ place: { connection }, nowMs }) =>
        connection !== undefined && nowMs - connection.openedMs >= olderThanMs,
    );
  }
  if (idleForMs !== undefined) {
    conditions.push(({ place, nowMs }) => (idleMsOf(place, nowMs) ?? -1) >= idleForMs);
  }
  if (protocol !== undefined) {
    const wanted = protocol.toUpperCase();
    conditions.push(({ place }) => protocolOf(place).toUpperCase() === wanted);
  }
  conditions.push(...clientConditions(filter), ...requestConditions(filter));
  return (looked) => conditions.every((holds) => holds(looked));
}

function clientConditions({ client, serverName }: ConnectionFilter): Condition[] {
  const conditions: Condition[] = [];
  if (client !== undefined) {
    const isMeant = compileClient(client);
    conditions.push(({ place }) => {
      const info = infoOf(place);
      return info !== undefined && isMeant(info.connection.remoteAddress);
    });
  }
  if (serverName !== undefined) {
    const wanted = serverName.toLowerCase();
    conditions.push(({ place }) => {
      const given = infoOf(place)?.connection.requestedServerName ?? '';
      return wanted.startsWith('*.') ? given.endsWith(wanted.slice(1)) : given === wanted;
    });
  }
  return conditions;
}

function compileClient(client: string): (address: Address) => boolean {
  const [ip = '', length] = client.split('/');
  if (isIP(ip) === 0) return ({ text }) => text === client;
  const isWithin = compileIpRanges([
    { address: ip, prefixLength: length === undefined ? 128 : Number(length) },
  ]);
  return (address) => address.kind === 'ip' && isWithin(address.ip);
}

/** One request, or the connection itself, has all that is asked for. */
function requestConditions({ route, cluster, host }: ConnectionFilter): Condition[] {
  if (route === undefined && cluster === undefined && host === undefined) return [];
  const fits = (info: StreamInfo | undefined): boolean =>
    info !== undefined &&
    (route === undefined || info.routeName === route) &&
    (cluster === undefined || info.upstreamCluster === cluster) &&
    (host === undefined || info.upstreamHost?.id === host || info.upstreamHost?.address === host);
  return [
    ({ place: { connection } }) => {
      let seen = 0;
      for (const info of connection?.streams?.() ?? []) {
        if (fits(info)) return true;
        if (++seen >= STREAMS_SEEN_MAX) break;
      }
      return connection?.streams === undefined && fits(connection?.describe?.());
    },
  ];
}

function infoOf({ connection }: OpenConnection): StreamInfo | undefined {
  return connection?.describe?.();
}
