/** What balancers and clusters need around them. */
import assert from 'node:assert/strict';
import { systemClock } from '../../../shared/process/clock.ts';
import { SecretStore } from '../../../workers/tls/secret-store.ts';
import { WorkerStatStore } from '../../../workers/stats/worker-stat-store.ts';
import type { ClusterContext } from '../../../workers/upstream/cluster-context.ts';
import type { BalancerContext } from '../../../workers/upstream/balancing/balancer-context.ts';
import type { HostModules } from '../../../workers/scripts/host-modules.ts';
import { WorkerLoop } from '../../../workers/loop/worker-loop.ts';

/** No balancer here is a module. */
const NO_MODULES: HostModules = {
  get marks() {
    return assert.fail('no modules');
  },
  join: () => assert.fail('no modules'),
  surroundings: () => assert.fail('no modules'),
};

export function balancerContext(changes: Partial<BalancerContext> = {}): BalancerContext {
  return {
    runtime: { snapshot: new Map(), random: () => 0 },
    ownLocality: { region: '', zone: '', subZone: '' },
    localCluster: undefined,
    nowMs: () => 0,
    cluster: { name: 'up', statPrefix: 'cluster.up.' },
    stats: new WorkerStatStore(),
    scripts: NO_MODULES,
    count: () => undefined,
    countStructure: () => undefined,
    countLoadAware: () => undefined,
    healthyPanicThreshold: 50,
    onDuplicates: () => undefined,
    allActiveRequests: () => 0,
    onTable: () => undefined,
    hashPolicies: undefined,
    ...changes,
  };
}

/** A worker without shared memory. */
export function clusterContext(): ClusterContext {
  return {
    loop: new WorkerLoop(systemClock),
    stats: new WorkerStatStore(),
    taps: { watch: () => undefined },
    runtime: { snapshot: new Map(), random: () => 0 },
    ownLocality: { region: '', zone: '', subZone: '' },
    node: { id: '', cluster: '', zone: '', metadata: {} },
    localClusterName: undefined,
    hostRequested: () => undefined,
    hostWanted: () => undefined,
    hostUsed: () => undefined,
    find: () => undefined,
    overload: { sheds: () => false },
    connectInside: () => assert.fail('no listener inside'),
    breakerPage: () => assert.fail('no slot was given'),
    duty: {
      clock: systemClock,
      workerIndex: 0,
      living: [],
      report: () => undefined,
      logEvent: () => undefined,
    },
    trafficBegan: () => undefined,
    secrets: new SecretStore(),
    scripts: NO_MODULES,
    log: () => undefined,
    outlierPage: () => assert.fail('no outlier detection'),
    outlierDetected: () => undefined,
    loadReported: () => undefined,
    makeAttemptFilters: () => assert.fail('no filters of attempts'),
  };
}
