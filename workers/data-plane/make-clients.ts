/**
 * Makes the clients by which a worker sends requests and gRPC calls of its own, the tracers that
 * send by them, and the tasks that filters begin with.
 */
import { localAddress } from '../../shared/addresses/local-address.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
import { StartTasks } from '../filters/start-tasks.ts';
import type { Runtime } from '../loop/runtime.ts';
import { Tracers } from '../tracing/tracers.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { UpstreamClient } from '../router/client/upstream-client.ts';
import { makeServiceClient } from './make-service-client.ts';
import { RouterLedger } from '../router/ledger/router-ledger.ts';
import { makeGrpcServices } from '../services/make-services.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';
import type { CompilerContext } from './compiler-context.ts';

/** What Envoy's names of statistics call it. */
const STAT_PREFIX = 'async-client';

export function makeClients(
  { stats, heritage }: DataPlaneEnv,
  loop: WorkerLoop,
  clusters: ClusterManager,
  runtime: Runtime,
): Pick<
  CompilerContext,
  'upstreamClient' | 'services' | 'grpcServices' | 'startTasks' | 'tracers'
> {
  const ownAddress = localAddress(heritage.localAddressIpVersion);
  const upstreamClient = new UpstreamClient({
    loop,
    clusters,
    ledger: new RouterLedger(stats, STAT_PREFIX, heritage.node.zone),
    localAddress: ownAddress,
  });
  const services = makeServiceClient(upstreamClient, clusters);
  const grpcServices = makeGrpcServices({ services, loop, stats });
  const tracers = new Tracers({
    loop,
    services,
    grpcServices,
    runtime,
    stats,
    node: heritage.node,
    localAddress: ownAddress,
  });
  const startTasks = new StartTasks(loop);
  return { upstreamClient, services, grpcServices, startTasks, tracers };
}
