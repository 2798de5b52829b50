/** One Thrift proxy, compiled from its resource: what its connections share. */
import type { ThriftProxy } from '../../shared/resources/filters/network/thrift-proxy.ts';
import { dottedPrefix } from '../../shared/stats/stat-scope.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { THRIFT_PROXY } from '../../shared/stats/templates/thrift.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { DrainControl } from '../manager/manager.ts';
import type {
  ChainServer,
  ConnectionObserver,
  OpenConnection,
  ServedConnection,
} from '../stream/chain-server.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';
import { ClusterCounts } from './cluster-counts.ts';
import { HostConnections } from './host-connection.ts';
import type { CutMessage } from './message-stream.ts';
import { ThriftConnection } from './thrift-connection.ts';
import { ThriftRoutes } from './thrift-routes.ts';

/** Looks at a request before its route is chosen. */
export type RequestFilter = (request: CutMessage, headers: HeaderMap, info: StreamInfo) => void;

export interface ThriftProxyParts {
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
  readonly clusters: ClusterManager;
  readonly drain: DrainControl;
  readonly random: () => number;
  readonly bufferLimitBytes: number;
  readonly filters: readonly RequestFilter[];
}

export class ThriftProxyServer implements ChainServer {
  readonly config: ThriftProxy;
  readonly parts: ThriftProxyParts;
  readonly counters = undefined;
  readonly routes: ThriftRoutes;
  readonly hosts: HostConnections;
  readonly clusterCounts: ClusterCounts;
  readonly #base: number;

  constructor(config: ThriftProxy, parts: ThriftProxyParts) {
    this.config = config;
    this.parts = parts;
    this.hosts = new HostConnections(parts.loop);
    this.routes = new ThriftRoutes(config.routes, parts.random);
    this.clusterCounts = new ClusterCounts(parts.stats);
    this.#base = parts.stats.defineBlock(
      THRIFT_PROXY,
      dottedPrefix(`thrift.${config.statPrefix}.`),
    );
  }

  get bufferLimitBytes(): number {
    return this.parts.bufferLimitBytes;
  }

  get filters(): readonly RequestFilter[] {
    return this.parts.filters;
  }

  create(observer: ConnectionObserver, open: OpenConnection): ServedConnection {
    return new ThriftConnection(this, observer, open);
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

  record(offset: number, value: number): void {
    this.parts.stats.record(this.#base + offset, value);
  }

  release(): void {
    this.hosts.close();
    this.clusterCounts.release();
    this.parts.stats.releaseBlock(this.#base);
  }
}
