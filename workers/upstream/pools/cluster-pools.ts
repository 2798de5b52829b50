/**
 * The pools of one cluster's hosts, each made with the first request that needs it: by priority,
 * and by client or by name where connections may not serve everybody. The hosts keep them.
 */
import type { Priority } from '../cluster-limits.ts';
import type { UpstreamCluster } from '../cluster.ts';
import { ConnectionPool, type KeyedPool, type PoolProtocol } from './connection-pool.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import { Http1PoolConnection } from './http1-pool-connection.ts';
import type { HttpPool, PoolClient } from './http-pool.ts';
import { EVERYBODY, poolKey, type PoolUsers } from './pool-users.ts';
import { TCP_POOLS, type TcpPool } from './tcp-pool-connection.ts';

/** What carries requests of HTTP: the connections of the cluster's protocol. */
const HTTP_POOLS: PoolProtocol<PoolClient> = {
  connect: (pool) => new Http1PoolConnection(pool),
  limitsRequests: true,
  closesExcess: false,
};

export class ClusterPools {
  readonly #cluster: UpstreamCluster;
  readonly #onMade: () => void;

  /** `onMade` is told of each pool: there is traffic. */
  constructor(cluster: UpstreamCluster, onMade: () => void) {
    this.#cluster = cluster;
    this.#onMade = onMade;
  }

  http(host: UpstreamHost, priority: Priority, wanted: PoolUsers): HttpPool {
    const place = { cluster: host.home ?? this.#cluster, host, priority };
    const users = this.#usersOf(host, wanted);
    if (users === EVERYBODY) {
      let pool = host.pools[priority];
      if (pool === undefined) {
        pool = new ConnectionPool(HTTP_POOLS, place);
        host.pools[priority] = pool;
        this.#onMade();
      }
      return pool;
    }
    const key = `${priority} ${this.#keyOf(users)}`;
    let pool = host.keyedPools.get(key);
    if (pool === undefined) {
      pool = new ConnectionPool(HTTP_POOLS, place, ownOf(users, host.keyedPools, key));
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
  #usersOf(host: UpstreamHost, { client, names }: PoolUsers): PoolUsers {
    const isOfOne = this.#cluster.resource.hasPoolPerClient === true;
    const isTold = this.#cluster.sockets.of(host).proxyProtocol !== undefined;
    if (!isOfOne && !isTold && names === undefined) return EVERYBODY;
    return { client: isOfOne || isTold ? client : undefined, names };
  }

  #keyOf(users: PoolUsers): string {
    return poolKey(users, this.#cluster.resource.hasPoolPerClient === true);
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
