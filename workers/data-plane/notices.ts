/** What the data plane tells the supervisor while it serves. */
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
import { RouteDemand } from '../routing/route-demand.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { Taps } from '../tap/taps.ts';
import type { ClusterContext } from '../upstream/cluster-context.ts';

export function makeTaps(env: DataPlaneEnv, loop: WorkerLoop, runtime: Runtime): Taps {
  return new Taps({
    stats: env.stats,
    runtime,
    nowMs: () => loop.clock.wallMs,
    send: (session, trace) => env.notify({ kind: 'tapped', session, trace }),
    log: (text) => env.log('warning', 'tap', text),
  });
}

export function makeRouteDemand({ heritage, notify }: DataPlaneEnv): RouteDemand {
  return new RouteDemand(heritage.workerIndex, (wanted, ticket) =>
    notify({ kind: 'routes_wanted', wanted, ticket }),
  );
}

/** This worker's part of active checks, and what the supervisor hears of them. */
export function checkingDuty({ clock, heritage, notify }: DataPlaneEnv): ClusterContext['duty'] {
  return {
    clock,
    workerIndex: heritage.workerIndex,
    living: [],
    logEvent: (host, check, event) => notify({ kind: 'health_event', ...host, check, event }),
    report: (host, bits) => notify({ kind: 'health_result', ...host, bits }),
  };
}

/** What the supervisor hears of clusters and their hosts. */
export function upstreamNotices({
  notify,
}: DataPlaneEnv): Pick<
  ClusterContext,
  'outlierDetected' | 'loadReported' | 'hostRequested' | 'hostUsed' | 'hostWanted' | 'trafficBegan'
> {
  return {
    outlierDetected: (cluster, host, what) =>
      notify({ kind: 'outlier_detected', cluster, host, what }),
    loadReported: (cluster, weights) => notify({ kind: 'load_reported', cluster, weights }),
    hostRequested: (cluster, host) => notify({ kind: 'host_requested', cluster, host }),
    hostUsed: (cluster, host) => notify({ kind: 'host_used', cluster, host }),
    hostWanted: (cluster, host, ticket) => notify({ kind: 'host_wanted', cluster, host, ticket }),
    trafficBegan: (cluster) => notify({ kind: 'traffic_began', cluster }),
  };
}
