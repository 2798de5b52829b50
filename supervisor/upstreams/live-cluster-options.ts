/** What one version of a cluster with its hosts is made of, and whom it tells of changes. */
import type { Clock } from '../../shared/process/clock.ts';
import type { RuntimeSnapshot } from '../../shared/resources/runtime.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { HostResource } from '../../shared/resources/clusters/cluster.ts';
import type { EventLogs } from '../health/event-log.ts';
import type { OutlierSlots } from '../health/outlier-slots.ts';
import type { Steps } from '../loop/loop-turns.ts';
import type { ResolvedCluster } from '../resolved/resolved-bootstrap.ts';
import type { ResourceUse } from '../store/resource-use.ts';
import type { BreakerSlots } from './breakers/breaker-slots.ts';
import type { LiveCluster } from './live-cluster.ts';
import type { HostOrders } from './hosts/host-orders.ts';
import type { MergeWindow } from './merge-window.ts';
import type { HostSink, HostSource } from './sources/host-source.ts';

export interface LiveClusterOptions {
  readonly resolved: ResolvedCluster;
  readonly writer: StatWriter;
  readonly clock: Clock;
  readonly random: () => number;
  slots(): OutlierSlots;
  readonly breakers: BreakerSlots;
  runtime(): RuntimeSnapshot;
  readonly eventLogs: EventLogs;
  /** The path for outlier detection in all clusters. */
  readonly outlierLogPath: string | undefined;
  /** Tells its hosts from those of other versions. */
  readonly version: number;
  /** The version before it has requests. */
  readonly hasTraffic: boolean;
  /** What the cluster cannot be used without, beside its hosts. */
  readonly needs: readonly ResourceUse[];
  /** What an operator has ordered for its hosts. */
  readonly orders: Pick<HostOrders, 'apply'>;
  /** Undefined: the hosts are those of the configuration. */
  makeSource(sink: HostSink): HostSource | undefined;
  /** These are about to be its hosts: what workers are to get of them is made ready. */
  prepare?(cluster: LiveCluster, hosts: readonly HostResource[]): Steps<void>;
  /** Hears of changes while the cluster is in use; ended with the cluster. */
  readonly merges: MergeWindow;
  /** Whether requests go to this version of the cluster. */
  isUsed(cluster: LiveCluster): boolean;
  /** The hosts are others than before; with an id, only that host's health is. */
  changed(cluster: LiveCluster, host?: string): void;
}
