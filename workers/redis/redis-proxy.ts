/** One Redis proxy, compiled from its resource: what its connections share. */
import { dottedPrefix } from '../../shared/stats/stat-scope.ts';
import type { RedisProxy } from '../../shared/resources/filters/network/redis-proxy.ts';
import { REDIS_PROXY } from '../../shared/stats/templates/redis.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { RuntimeFraction } from '../../shared/resources/routes/matchers.ts';
import { isEnabled, type Runtime } from '../loop/runtime.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { DrainControl } from '../manager/manager.ts';
import type { ByteCounters } from '../net/byte-stream.ts';
import type { GrpcServices } from '../services/grpc-services.ts';
import type {
  ChainServer,
  ConnectionObserver,
  OpenConnection,
  ServedConnection,
} from '../stream/chain-server.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';
import { RedisConnection } from './redis-connection.ts';
import { KeyRoutes } from './routes/key-routes.ts';
import { Passwords } from './session/authentication.ts';
import { ExternalAuth } from './session/external-auth.ts';
import { CommandSplitter } from './splitting/command-splitter.ts';
import { Faults } from './splitting/faults.ts';
import type { IamParts } from './upstream/credentials.ts';
import { ClusterCommandStats } from './upstream/command-stats.ts';
import { RedisPool } from './upstream/redis-pool.ts';

/** Switches the closing of connections while their listener drains. */
const DRAIN_CLOSE: RuntimeFraction = {
  runtimeKey: 'redis.drain_close_enabled',
  numerator: 100,
  denominator: 100,
};

export interface RedisProxyParts {
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
  readonly clusters: ClusterManager;
  readonly runtime: Runtime;
  readonly drain: DrainControl;
  readonly grpc: GrpcServices;
  readonly secretText: IamParts['secretText'];
  readonly bufferLimitBytes: number;
}

export class RedisProxyServer implements ChainServer {
  readonly config: RedisProxy;
  readonly parts: RedisProxyParts;
  readonly counters: ByteCounters;
  readonly splitter: CommandSplitter;
  readonly passwords: Passwords;
  readonly externalAuth: ExternalAuth | undefined;
  readonly #base: number;
  readonly #pools = new Map<string, RedisPool>();

  constructor(config: RedisProxy, parts: RedisProxyParts) {
    const { stats, loop, runtime, grpc } = parts;
    const { index } = REDIS_PROXY;
    const prefix = dottedPrefix(`redis.${config.statPrefix}.`);
    this.config = config;
    this.parts = parts;
    this.#base = stats.defineBlock(REDIS_PROXY, prefix);
    this.counters = {
      stats,
      received: this.#base + index.downstream_cx_rx_bytes_total,
      waiting: this.#base + index.downstream_cx_rx_bytes_buffered,
      sent: this.#base + index.downstream_cx_tx_bytes_total,
    };
    this.passwords = new Passwords(config.auth);
    this.externalAuth =
      config.externalAuth &&
      new ExternalAuth(grpc.service(config.externalAuth.target), config.externalAuth.timeoutMs);
    this.splitter = new CommandSplitter({
      loop,
      writer: stats,
      base: this.#base,
      prefix,
      routes: new KeyRoutes(config.routes, (cluster) => this.#poolOf(cluster), runtime),
      faults: new Faults(config.faults, runtime),
      customCommands: config.customCommands,
      hasMicroseconds: config.hasMicroseconds,
    });
  }

  get bufferLimitBytes(): number {
    return this.parts.bufferLimitBytes;
  }

  create(observer: ConnectionObserver, open: OpenConnection): ServedConnection {
    return new RedisConnection(this, observer, open);
  }

  closesWhileDraining(): boolean {
    const { drain, runtime } = this.parts;
    return drain.shouldClose() && isEnabled(DRAIN_CLOSE, runtime, runtime.random());
  }

  count(offset: number): void {
    this.parts.stats.increment(this.#base + offset);
  }

  add(offset: number, amount: number): void {
    this.parts.stats.add(this.#base + offset, amount);
  }

  subtract(offset: number, amount: number): void {
    this.parts.stats.subtract(this.#base + offset, amount);
  }

  release(): void {
    for (const pool of this.#pools.values()) pool.close();
    this.splitter.release();
    this.externalAuth?.release();
    this.parts.stats.releaseBlock(this.#base);
  }

  #poolOf(cluster: string): RedisPool {
    const { clusters, stats, secretText } = this.parts;
    const { hosts: settings, version } = this.config;
    let pool = this.#pools.get(cluster);
    if (pool === undefined) {
      const counts = new ClusterCommandStats(stats, cluster, settings.hasCommandStats);
      pool = new RedisPool(cluster, counts, { clusters, settings, version, secretText });
      this.#pools.set(cluster, pool);
    }
    return pool;
  }
}
