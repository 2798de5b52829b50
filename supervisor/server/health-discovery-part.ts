/** Checks for a control plane, where the bootstrap names one for them; loaded only then. */
import { getLogger } from '../../shared/logging/process-log.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { HealthDiscovery } from '../health-discovery/health-discovery.ts';
import type { ResolvedCluster } from '../resolved/resolved-bootstrap.ts';
import { ResourceResolver } from '../xds/kinds/resource-resolver.ts';
import type { ServerPartsInput } from './base-parts.ts';
import type { ControlPart } from './load-stats-part.ts';
import type { ServiceClusters, ServiceStreams } from './service-streams.ts';

export function makeHealthDiscovery(
  { clock, configuration }: ServerPartsInput,
  { openGrpc, node }: ServiceStreams,
  { upstreams, statStore }: ServiceClusters,
): ControlPart {
  const target = configuration.resolved.healthDiscovery;
  const log = getLogger('upstream');
  let discovery: HealthDiscovery | undefined;
  let isClosed = false;
  const start = async (): Promise<void> => {
    if (target === undefined) return;
    const { HealthDiscovery: Discovery } = await import('../health-discovery/health-discovery.ts');
    const { HealthMessages } = await import('../health-discovery/health-messages.ts');
    if (isClosed) return;
    discovery = new Discovery({
      target,
      clock,
      random: Math.random,
      stats: statStore,
      node: node.message,
      messages: new HealthMessages(),
      open: openGrpc,
      resolve: clusterResolver(configuration, log.warning),
      probed: upstreams.probed,
      log: log.warning,
    });
    discovery.start();
  };
  return {
    start: () => void start(),
    close: () => {
      isClosed = true;
      discovery?.close();
    },
  };
}

/** Throws with the first mistake of a message. */
function clusterResolver(
  { bootstrap, resolved, store }: ServerPartsInput['configuration'],
  warn: (text: string) => void,
): (message: JsonObject) => ResolvedCluster {
  const resolver = new ResourceResolver({
    bootstrap,
    rules: resolved,
    isKnownCluster: (name) => store.get('cluster', name) !== undefined,
    warn,
  });
  return (message) => {
    const resolution = resolver.cluster(message);
    if (resolution.error !== undefined) throw new Error(resolution.error);
    return resolution.resolved;
  };
}
