/** What one router is given when its connection manager is compiled, shared by all its requests. */
import type { AccessLog } from '../access-log/types.ts';
import type { OverloadGate } from '../loop/overload-gate.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';
import type { HeaderOptions } from './envoy-headers.ts';
import type { RouterStats } from './ledger/router-stats.ts';
import type { MirrorContext } from './mirror/request-mirror.ts';

export interface RouterContext extends HeaderOptions {
  readonly loop: WorkerLoop;
  readonly clusters: ClusterManager;
  readonly stats: RouterStats;
  readonly proxy100Continue: boolean;
  readonly overload: OverloadGate;
  readonly shadows: MirrorContext;
  /** Written once per try. */
  readonly upstreamLogs: readonly AccessLog[];
}
