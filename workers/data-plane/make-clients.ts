/** Makes the one client by which a worker sends requests of its own, and the seam to it. */
import { localAddress } from '../../shared/addresses/local-address.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
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
): { readonly upstreamClient: UpstreamClient; readonly services: ServiceClient } {
  const upstreamClient = new UpstreamClient({
    loop,
    clusters,
    ledger: new RouterLedger(stats, STAT_PREFIX, heritage.node.zone),
    localAddress: localAddress(heritage.localAddressIpVersion),
  });
  return { upstreamClient, services: makeServiceClient(upstreamClient, clusters) };
}
