/** What compiling listeners needs of the worker, and what comes of the last filter of a chain. */
import type { QuotaClients } from '../filters/http/rate-limit-quota/quota-clients.ts';
import type { ListenerResource } from '../../shared/resources/listener.ts';
import type { RouteConfigurationResource } from '../../shared/resources/routes/route.ts';
import type { AccessLogs } from '../access-log/access-logs.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
import type { ScriptModules } from '../filters/http/script/script-modules.ts';
import type { ExtensionStore } from '../filters/extension-store.ts';
import type { StartTasks } from '../filters/start-tasks.ts';
import type { RouteTable } from '../stream/route.ts';
import type { UpstreamClient } from '../router/client/upstream-client.ts';
import type { GrpcServices } from '../services/grpc-services.ts';
import type { ServiceClient } from '../services/service-client.ts';
import type { Tracers } from '../tracing/tracers.ts';
import type { RequestWatches } from '../watched/request-watches.ts';
import type { Taps } from '../tap/taps.ts';
import type { SecretStore } from '../tls/secret-store.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';
import type { Runtime } from '../loop/runtime.ts';
import { OverloadGate } from '../loop/overload-gate.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { LastRefusals } from '../manager/last-refusals.ts';
import type { ExplainStream } from '../stream/explained.ts';
import type { ChainServer } from '../stream/chain-server.ts';
import type { ChainDrain, DrainState } from '../listener/drain-state.ts';
import type { RouteDemand } from '../routing/route-demand.ts';
import type { RouteStore } from './route-store.ts';
import type { SharedPages } from '../loop/shared-count.ts';

export interface CompilerContext {
  readonly env: DataPlaneEnv;
  readonly loop: WorkerLoop;
  readonly clusters: ClusterManager;
  readonly routes: RouteStore;
  readonly routeDemand: RouteDemand;
  readonly secrets: SecretStore;
  readonly extensions: ExtensionStore;
  readonly scripts: ScriptModules;
  readonly quotas: QuotaClients;
  readonly startTasks: StartTasks;
  readonly overload: OverloadGate;
  readonly drain: DrainState;
  readonly buildRoutes: (config: RouteConfigurationResource) => RouteTable;
  readonly accessLogs: AccessLogs;
  readonly runtime: Runtime;
  readonly taps: Taps;
  readonly watches: RequestWatches;
  readonly refusals: Pick<LastRefusals, 'note'>;
  /** The pages of limits that all workers keep together. */
  readonly pages: SharedPages;
  /** Sends requests that the proxy makes by itself. */
  readonly upstreamClient: UpstreamClient;
  /** The same for parts below the router. */
  readonly services: ServiceClient;
  readonly grpcServices: GrpcServices;
  readonly tracers: Tracers;
}

/** For one chain of a listener. */
export interface ChainContext extends CompilerContext {
  readonly chainDrain: ChainDrain;
}

/** What serves the connections of a chain, until it is released. */
export interface CompiledFilter {
  readonly server: ChainServer;
  /** Absent where it does not serve HTTP. */
  readonly explain?: ExplainStream;
  readonly release: () => void;
}

/**
 * The worker's gate, or one that is never told of any pressure, for listeners that serve in any
 * case.
 */
export function overloadOf(listener: ListenerResource, context: CompilerContext): OverloadGate {
  if (!listener.bypassesOverload) return context.overload;
  const { env, loop } = context;
  return new OverloadGate({ random: Math.random, stats: env.stats, timers: loop.timers });
}
