/**
 * The middle tier of a server's parts: its clusters with their hosts, and what control planes and
 * files bring. Clusters are made first; discovery is attached to them when they start.
 */
import { OwnRequests } from '../services/control-plane-clusters.ts';
import { secretsOf } from '../tls/loaded-certificates.ts';
import { HostOrders } from '../upstreams/hosts/host-orders.ts';
import type { StatStore } from '../stats/stat-store.ts';
import { UpstreamClusters } from '../upstreams/upstream-clusters.ts';
import { DynamicConfiguration } from '../xds/dynamic-configuration.ts';
import { unknownFieldsOf } from '../xds/unknown-fields.ts';
import type { BaseParts, ServerPartsInput } from './base-parts.ts';

export interface UpstreamParts {
  readonly upstreams: UpstreamClusters;
  /** What an operator has ordered for single hosts. */
  readonly hostOrders: HostOrders;
  readonly dynamic: DynamicConfiguration;
}

export function makeUpstreamParts(input: ServerPartsInput, base: BaseParts): UpstreamParts {
  const hostOrders = new HostOrders({
    clock: input.clock,
    changed: (cluster) => upstreams.get(cluster)?.ordersChanged(),
    counted: (count) => countOrders(base.statStore, count),
  });
  const upstreams = makeUpstreams(input, base, hostOrders);
  return { upstreams, hostOrders, dynamic: makeDynamic(input, base, upstreams) };
}

/** The gauge is there from the first order on. */
function countOrders(store: StatStore, count: number): void {
  store.setGauge(store.defineGauge('sluice.host_orders'), count);
}

function makeUpstreams(
  { options, configuration, clock, pool }: ServerPartsInput,
  { statStore, serverStats, runtime, eventLogs }: BaseParts,
  orders: HostOrders,
): UpstreamClusters {
  return new UpstreamClusters({
    orders,
    store: configuration.store,
    writer: statStore,
    clock,
    random: Math.random,
    pages: pool.pages,
    concurrency: options.concurrency,
    runtime: () => runtime.snapshot(),
    eventLogs,
    outlierLogPath: configuration.resolved.outlierLogPath,
    send: async (updates) => await pool.apply(updates),
    tell: (updates) => pool.tell(updates),
    counted: (active, warming) => serverStats.setClusterCounts(active, warming),
    countUpdate: (counter) => serverStats.clusterUpdated(counter),
  });
}

function makeDynamic(
  { options, clock, configuration, pool }: ServerPartsInput,
  { node, statStore, serverStats, listeners, drains, runtime, certificates }: BaseParts,
  upstreams: UpstreamClusters,
): DynamicConfiguration {
  const { store } = configuration;
  return new DynamicConfiguration({
    clusters: new OwnRequests((name) => upstreams.get(name), statStore, secretsOf(store), clock),
    runtime,
    node: node.message,
    ...configuration,
    statStore,
    serverStats,
    clock,
    open: listeners,
    workers: {
      concurrency: options.concurrency,
      // What names clusters comes after them.
      apply: async (updates) => {
        void upstreams.flush();
        return await pool.apply(updates);
      },
      adoptListeners: () => pool.adoptListeners(),
      endListening: (names) => pool.endListening(names),
    },
    drainTimeMs: options.drainTimeS * 1000,
    unknownFields: unknownFieldsOf(options),
    scriptFolders: options.scriptFolders,
    isStopped: (direction) => drains.isStopped(direction),
    keptPath: process.env['SLUICE_XDS_KEEP_PATH'] || undefined,
    secretChanged: (key) => certificates.secretChanged(key),
  });
}
