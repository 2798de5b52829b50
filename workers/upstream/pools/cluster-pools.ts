/**
 * The pools of one cluster's hosts, each made with the first request that needs it: by priority and
 * protocol, and by client or by name where connections may not serve everybody. The hosts keep
 * them.
 */
import type { Protocol } from '../../stream/stream-info.ts';
import type { Priority } from '../cluster-limits.ts';
import type { UpstreamCluster } from '../cluster.ts';
import { AutoPoolConnection } from './auto-pool-connection.ts';
import { ConnectionPool, type KeyedPool, type PoolProtocol } from './connection-pool.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import { Http1PoolConnection } from './http1-pool-connection.ts';
import { Http2PoolConnection } from './http2-pool-connection.ts';
import type { HttpPool, PoolClient } from './http-pool.ts';
import { EVERYBODY, poolKey, type PoolUsers } from './pool-users.ts';
import { TCP_POOLS, type TcpPool } from './tcp-pool-connection.ts';

type HttpProtocol = PoolProtocol<PoolClient>;

/** What carries requests: the connections of one protocol, or of what each host agrees to. */
const HTTP1_POOLS: HttpProtocol = {
  connect: (pool) => new Http1PoolConnection(pool),
  limitsRequests: true,
  closesExcess: false,
};
const HTTP2_POOLS: HttpProtocol = {
  ...HTTP1_POOLS,
  connect: (pool) => new Http2PoolConnection(pool),
};
const AUTO_POOLS: HttpProtocol = {
  ...HTTP1_POOLS,
  connect: (pool) => new AutoPoolConnection(pool),
};

/** Whose requests a pool is for, and what their client speaks. */
export interface PoolWish extends PoolUsers {
  readonly protocol?: Protocol | undefined;
}

export class ClusterPools {
  readonly #cluster: UpstreamCluster;
  readonly #onMade: () => void;

  /** `onMade` is told of each pool: there is traffic. */
  constructor(cluster: UpstreamCluster, onMade: () => void) {
    this.#cluster = cluster;
    this.#onMade = onMade;
  }

  http(host: UpstreamHost, priority: Priority, wanted: PoolWish): HttpPool {
    const cluster = host.home ?? this.#cluster;
    const place = { cluster, host, priority };
    const users = this.#usersOf(host, wanted);
    const protocol = protocolOf(cluster, wanted.protocol);
    // A cluster whose clients decide may have pools of two protocols beside each other.
    const isBeside = protocol === HTTP2_POOLS && isByClient(cluster);
    if (users === EVERYBODY && !isBeside) {
      let pool = host.pools[priority];
      if (pool === undefined) {
        pool = new ConnectionPool(protocol, place);
        host.pools[priority] = pool;
        this.#onMade();
      }
      return pool;
    }
    const whose = users === EVERYBODY ? '' : this.#keyOf(users);
    const key = `${isBeside ? 'h2 ' : ''}${priority} ${whose}`;
    let pool = host.keyedPools.get(key);
    if (pool === undefined) {
      pool = new ConnectionPool(protocol, place, ownOf(users, host.keyedPools, key));
      host.keyedPools.set(key, pool);
      this.#onMade();
    }
    return pool;
  }

  tcp(host: UpstreamHost, wanted: PoolUsers): TcpPool {
    const users = this.#usersOf(host, wanted);
    const key = users === EVERYBODY ? '' : this.#keyOf(users);
    let pool = host.tcpPools.get(key);
    if (pool === undefined) {
      const place = { cluster: host.home ?? this.#cluster, host, priority: 'DEFAULT' } as const;
      pool = new ConnectionPool(TCP_POOLS, place, ownOf(users, host.tcpPools, key));
      host.tcpPools.set(key, pool);
      this.#onMade();
    }
    return pool;
  }

  /** Connections that tell their host of one client, or go by one name of it, serve no other. */
  #usersOf(host: UpstreamHost, { client, names, ...rest }: PoolUsers): PoolUsers {
    const isOfOne = this.#cluster.resource.hasPoolPerClient === true;
    const namesClient = this.#cluster.sockets.of(host).proxyProtocol !== undefined;
    // Others than listeners inside are told nothing.
    const shared = host.resource.address.kind === 'internal' ? rest.shared : undefined;
    const isAnybody = names === undefined && shared === undefined;
    if (!isOfOne && !namesClient && isAnybody) return EVERYBODY;
    return { client: isOfOne || namesClient ? client : undefined, names, shared };
  }

  #keyOf(users: PoolUsers): string {
    return poolKey(users, this.#cluster.resource.hasPoolPerClient === true);
  }
}

function isByClient({ resource }: UpstreamCluster): boolean {
  return resource.upstreamHttp.protocol === 'DOWNSTREAM';
}

function protocolOf({ resource }: UpstreamCluster, ofClient: Protocol | undefined): HttpProtocol {
  switch (resource.upstreamHttp.protocol) {
    case 'HTTP1':
      return HTTP1_POOLS;
    case 'HTTP2':
      return HTTP2_POOLS;
    case 'DOWNSTREAM':
      return ofClient === 'HTTP/2' || ofClient === 'HTTP/3' ? HTTP2_POOLS : HTTP1_POOLS;
    case 'AUTO':
      return AUTO_POOLS;
  }
}

/** A pool of some clients goes with its last connection. */
function ownOf(users: PoolUsers, pools: Map<string, unknown>, key: string): KeyedPool | undefined {
  if (users === EVERYBODY) return undefined;
  // Hosts whose pools were renewed have another by that key.
  const onEmpty = (pool: unknown): void => {
    if (pools.get(key) === pool) pools.delete(key);
  };
  return { ...users, onEmpty };
}
