/**
 * Streams to services that are told what happens here, each to a host of its cluster.
 */
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import type { Configuration } from '../start/load-configuration.ts';
import type { StatStore } from '../stats/stat-store.ts';
import { secretsOf } from '../tls/loaded-certificates.ts';
import type { Clock } from '../../shared/process/clock.ts';
import type { UpstreamClusters } from '../upstreams/upstream-clusters.ts';
import type { CollectorClient } from '../services/collector-client.ts';
import { OwnRequests } from '../services/control-plane-clusters.ts';
import type { GrpcStream, GrpcStreamHandlers } from '../services/grpc-client.ts';
import { GrpcConnections } from '../services/grpc-connections.ts';
import type { OwnNode } from './own-node.ts';

export interface ServiceStreams {
  /** Rejects when there is no host. */
  readonly openGrpc: (
    target: GrpcTarget,
    method: string,
    handlers: GrpcStreamHandlers,
  ) => Promise<GrpcStream>;
  /** What sends to collectors by HTTP; its opener closes it. */
  readonly openCollector: () => Promise<CollectorClient>;
  /** Who sends. */
  readonly node: OwnNode;
}

interface StreamingServer {
  readonly configuration: Configuration;
  readonly clock: Clock;
  readonly node: OwnNode;
}

/** The clusters that services are, and where what is asked of them is counted. */
export interface ServiceClusters {
  readonly upstreams: UpstreamClusters;
  readonly statStore: StatStore;
}

export function makeServiceStreams(
  server: StreamingServer,
  { upstreams, statStore }: ServiceClusters,
): ServiceStreams {
  const connections = new GrpcConnections();
  const requests = new OwnRequests(
    (name) => upstreams.get(name),
    statStore,
    secretsOf(server.configuration.store),
    server.clock,
  );
  return {
    openGrpc: async (target, method, handlers) => {
      const { openGrpcStream } = await import('../services/grpc-client.ts');
      return openGrpcStream(connections, { target, method }, handlers, (cluster) =>
        requests.pick(cluster, 'h2'),
      );
    },
    node: server.node,
    openCollector: async () => {
      const { CollectorClient } = await import('../services/collector-client.ts');
      return new CollectorClient(requests, server.clock);
    },
  };
}
