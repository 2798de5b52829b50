/**
 * Streams to services that are told what happens here: who this server is, and a host of their
 * cluster.
 */
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import { nodeMessage } from '../services/node-message.ts';
import type { Configuration } from '../start/load-configuration.ts';
import type { StatStore } from '../stats/stat-store.ts';
import { secretsOf } from '../tls/loaded-certificates.ts';
import type { Clock } from '../../shared/process/clock.ts';
import type { UpstreamClusters } from '../upstreams/upstream-clusters.ts';
import type { CollectorClient } from '../services/collector-client.ts';
import { OwnRequests } from '../services/control-plane-clusters.ts';
import type { GrpcStream, GrpcStreamHandlers } from '../services/grpc-client.ts';
import { GrpcConnections } from '../services/grpc-connections.ts';

export interface ServiceStreams {
  /** Rejects when there is no host. */
  readonly openGrpc: (
    target: GrpcTarget,
    method: string,
    handlers: GrpcStreamHandlers,
  ) => Promise<GrpcStream>;
  /** What sends to collectors by HTTP; whoever opens it closes it. */
  readonly openCollector: () => Promise<CollectorClient>;
  /**
   * A message of this type that has its field `identifier` alone: the node, and what else is said.
   */
  readonly identifier: (type: string, others?: JsonObject) => Promise<Uint8Array>;
  /** This server, as it names itself. */
  readonly node: () => JsonObject;
}

interface StreamingServer {
  readonly configuration: Configuration;
  readonly version: string;
  readonly clock: Clock;
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
    openCollector: async () => {
      const { CollectorClient } = await import('../services/collector-client.ts');
      return new CollectorClient(requests, server.clock);
    },
    identifier: (type, others) => encodedIdentifier(server, type, others),
    node: () => nodeOf(server),
  };
}

function nodeOf({ configuration, version }: StreamingServer): JsonObject {
  const { bootstrap, resolved } = configuration;
  const configured = (bootstrap.node ?? {}) as JsonObject;
  return nodeMessage({ configured, identity: resolved.node, version });
}

async function encodedIdentifier(
  server: StreamingServer,
  type: string,
  others: JsonObject = {},
): Promise<Uint8Array> {
  const { encodeMessage } = await import('../config/convert/message-encoder.ts');
  const { ApiCatalog } = await import('../config/api/api-catalog.ts');
  const catalog = new ApiCatalog();
  const identifier = { node: nodeOf(server), ...others };
  return encodeMessage(catalog, catalog.message(type), { identifier });
}
