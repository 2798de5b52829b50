/** What a cluster needs of the worker that it is in. */
import type { WorkerHeritage } from '../../shared/messages/heritage.ts';
import type net from 'node:net';
import type { BreakerPage } from '../../shared/limits/breaker-page.ts';
import type { OutlierPage } from '../../shared/limits/outlier-page.ts';
import type { SentWeight } from '../../shared/messages/worker-notices.ts';
import type { ClusterResource, HostResource } from '../../shared/resources/clusters/cluster.ts';
import type { OutlierSign } from '../../shared/resources/clusters/outlier-detection.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { CheckingDuty } from '../health/health-checker.ts';
import type { OverloadGate } from '../loop/overload-gate.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { FilterFactory } from '../stream/filter.ts';
import type { Taps } from '../tap/taps.ts';
import type { SecretStore } from '../tls/secret-store.ts';
import type { HostModules } from '../scripts/host-modules.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { UpstreamCluster } from './cluster.ts';
import type { InternalTarget } from '../upstream-transport/upstream-transport.ts';
import type { ZonePickerParts } from './balancing/zone-picker.ts';

/** Until the cluster is gone. */
export interface AttemptFilterSet {
  readonly factories: readonly FilterFactory[];
  readonly release: () => void;
}

export interface ClusterContext {
  /** Mapped on first use. */
  outlierPage(): OutlierPage;
  breakerPage(): BreakerPage;
  readonly runtime: Runtime;
  outlierDetected(cluster: string, host: string, kind: OutlierSign): void;
  loadReported(cluster: string, weights: readonly SentWeight[]): void;
  readonly duty: CheckingDuty;
  /** A request named this host of the cluster itself. */
  hostRequested(cluster: string, host: HostResource): void;
  /** The host of this name is in use. */
  hostUsed(cluster: string, host: string): void;
  /** A request of the cluster waits for the host of this name. */
  hostWanted(cluster: string, host: string, ticket: number): void;
  /** The cluster of this name, if it is there. */
  find(name: string): UpstreamCluster | undefined;
  /** A cluster with active checks has its first request. */
  trafficBegan(cluster: string): void;
  /** Whether one more connection to a host is opened. */
  readonly overload: Pick<OverloadGate, 'sheds'>;
  /** A connection to a listener of this worker. */
  connectInside(to: InternalTarget): net.Socket;
  /** What attempts at the cluster pass before the codec. */
  makeAttemptFilters(cluster: ClusterResource, statPrefix: string): AttemptFilterSet;
  /** Who this server is. */
  readonly node: WorkerHeritage['node'];
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
  readonly secrets: SecretStore;
  /** Modules of the operator. */
  readonly scripts: HostModules;
  readonly taps: Pick<Taps, 'watch'>;
  /** Debug lines of component `connection`. */
  readonly log: (line: string) => void;
  readonly ownLocality: ZonePickerParts['ownLocality'];
  /** The cluster that this server is one of; undefined: none is configured. */
  readonly localClusterName: string | undefined;
}
