/** What the statistics see of the server: its clusters, and for sinks streams to services and who it is. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { nodeMessage } from '../../admin-views/node-message.ts';
import type { Configuration } from '../../load-configuration.ts';
import type { StatStore } from '../stat-store.ts';
import type { SinkCluster, StatsEngineOptions } from '../stats-engine.ts';
import { endpointFigures } from '../../upstreams/endpoint-figures.ts';
import type { LiveCluster } from '../../upstreams/live-cluster.ts';
import type { UpstreamClusters } from '../../upstreams/upstream-clusters.ts';
import { OwnRequests } from '../../xds/control-plane-clusters.ts';
import { secretsOf } from '../../tls/loaded-certificates.ts';

interface SinkServer {
  readonly configuration: Configuration;
  readonly version: string;
}

/** Made after the statistics. */
interface LaterParts {
  readonly upstreams: UpstreamClusters;
  readonly store: StatStore;
}

export function sinkSurroundings(
  server: SinkServer,
  parts: () => LaterParts,
): Pick<StatsEngineOptions, 'clusters' | 'endpoints' | 'services'> {
  let requests: OwnRequests | undefined;
  const ownRequests = (): OwnRequests => {
    const { upstreams, store } = parts();
    const { store: resources } = server.configuration;
    return (requests ??= new OwnRequests(
      (name) => upstreams.get(name),
      store,
      secretsOf(resources),
    ));
  };
  return {
    clusters: () => [...parts().upstreams.all()].map(sinkCluster),
    endpoints: () => endpointFigures(parts().upstreams.all(), parts().store),
    services: {
      openGrpc: async (target, method, handlers) => {
        const { openGrpcStream } = await import('../../xds/grpc-client.ts');
        return openGrpcStream(target, method, handlers, (cluster) =>
          ownRequests().pick(cluster, 'h2'),
        );
      },
      identifier: () => encodedIdentifier(server),
    },
  };
}

/** `identifier` of the first message to a metrics service; the list of extensions is left out. */
async function encodedIdentifier({ configuration, version }: SinkServer): Promise<Uint8Array> {
  const { encodeMessage } = await import('../../config/convert/message-encoder.ts');
  const { ApiCatalog } = await import('../../config/api/api-catalog.ts');
  const { bootstrap, resolved } = configuration;
  const configured = (bootstrap.node ?? {}) as JsonObject;
  const { extensions: _, ...node } = nodeMessage({ configured, identity: resolved.node, version });
  const catalog = new ApiCatalog();
  const type = catalog.message('envoy.service.metrics.v3.StreamMetricsMessage');
  return encodeMessage(catalog, type, { identifier: { node } });
}

function sinkCluster({ resolved: { resource }, hosts }: LiveCluster): SinkCluster {
  const { maxRequests, maxPendingRequests } = resource.circuitBreakers.DEFAULT;
  return {
    configuredName: resource.name,
    name: resource.statName,
    maxRequests,
    maxPendingRequests,
    hosts: hosts.hosts.flatMap(({ address }) =>
      address.kind === 'ip' ? [{ address: address.address, port: address.port }] : [],
    ),
  };
}
