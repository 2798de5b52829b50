/**
 * Makes the one client by which a worker sends requests of its own, the seam to it, and the tasks
 * that filters begin with.
 */
import { localAddress } from '../../shared/addresses/local-address.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
import { StartTasks } from '../filters/start-tasks.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { UpstreamClient } from '../router/client/upstream-client.ts';
import { makeServiceClient } from './make-service-client.ts';
import { RouterLedger } from '../router/ledger/router-ledger.ts';
import type { ServiceClient } from '../services/service-client.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';

/** What Envoy's names of statistics call it. */
const STAT_PREFIX = 'async-client';

export function makeClients(
  { stats, heritage }: DataPlaneEnv,
  loop: WorkerLoop,
  clusters: ClusterManager,
): {
  readonly upstreamClient: UpstreamClient;
  readonly services: ServiceClient;
  readonly startTasks: StartTasks;
} {
  const upstreamClient = new UpstreamClient({
    loop,
    clusters,
    ledger: new RouterLedger(stats, STAT_PREFIX, heritage.node.zone),
    localAddress: localAddress(heritage.localAddressIpVersion),
  });
  const services = makeServiceClient(upstreamClient, clusters);
  return { upstreamClient, services, startTasks: new StartTasks(loop) };
}
