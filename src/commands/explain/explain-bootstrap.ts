/**
 * Explains a request by a bootstrap: its resources are resolved as at a start and given to a data
 * plane in this process, which opens no socket, writes no log and asks nobody.
 */
import { createBreakerPage } from '../../../shared/limits/breaker-page.ts';
import { createOutlierPage } from '../../../shared/limits/outlier-page.ts';
import { createRateLimitPage } from '../../../shared/limits/rate-limit-page.ts';
import type { AskedRequest, Explanation } from '../../../shared/explain/explanation.ts';
import { systemClock } from '../../../shared/process/clock.ts';
import type { Options } from '../../../shared/process/options.ts';
import type { ResourceUpdate } from '../../../shared/resources/resource-update.ts';
import { RuntimeStore } from '../../../supervisor/runtime/runtime-store.ts';
import {
  loadConfiguration,
  type Configuration,
} from '../../../supervisor/start/load-configuration.ts';
import { LazyBatches } from '../../../supervisor/store/lazy-batches.ts';
import { startUpdates } from '../../../supervisor/store/start-updates.ts';
import { createDataPlane } from '../../../workers/data-plane/data-plane.ts';
import { WorkerStatStore } from '../../../workers/stats/worker-stat-store.ts';
import { WARM_UP_HERITAGE } from '../../../workers/warm-up/warm-up-resources.ts';

/** Rejects with `ConfigError`, which names every mistake of the bootstrap. */
export async function explainByBootstrap(
  asked: AskedRequest,
  options: Options,
): Promise<Explanation> {
  const configuration = await loadConfiguration(options, systemClock);
  const { resolved } = configuration;
  const stats = new WorkerStatStore();
  const runtime = await RuntimeStore.open({
    layers: resolved.runtimeLayers,
    statWriter: stats,
    log: () => undefined,
  });
  const plane = createDataPlane({
    heritage: {
      ...WARM_UP_HERITAGE,
      node: resolved.node,
      localAddressIpVersion: options.localAddressIpVersion,
      ...(resolved.localCluster !== undefined && { localCluster: resolved.localCluster }),
    },
    pages: {
      outlierFd: createOutlierPage(),
      breakerFd: createBreakerPage(1),
      rateLimitFd: createRateLimitPage(),
      scriptFd: -1,
    },
    explainsOnly: true,
    stats,
    clock: systemClock,
    exceptions: {
      note(error) {
        throw error;
      },
    },
    notify: () => undefined,
    log: () => undefined,
  });
  await plane.apply([
    { op: 'put_runtime', values: [...runtime.snapshot()] },
    ...resourcesOf(configuration),
  ]);
  return await plane.explain(asked);
}

/** Hosts that are discovered are not known. */
function* resourcesOf({ store, resolved }: Configuration): Generator<ResourceUpdate> {
  const hosts = new Map(resolved.clusters.map((each) => [each.resource.name, each.hosts]));
  const hostsOf = (cluster: string) =>
    hosts.get(cluster) ?? { cluster, hosts: [], overprovisioningFactor: 140 };
  yield* startUpdates(store, hostsOf, new LazyBatches());
  for (const { resource } of resolved.listeners) yield { op: 'put_listener', listener: resource };
}
