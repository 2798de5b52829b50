/** One stream of a server to a control plane, without the server. */
import { systemClock, type Clock } from '../../../shared/process/clock.ts';
import type { OwnPings } from '../../../supervisor/services/control-plane-clusters.ts';
import { ApiCatalog } from '../../../supervisor/config/api/api-catalog.ts';
import { StatStore } from '../../../supervisor/stats/stat-store.ts';
import type { DiscoveryUpdate } from '../../../supervisor/xds/subscriptions/discovery-update.ts';
import { DiscoveryStats } from '../../../supervisor/xds/subscriptions/discovery-stats.ts';
import { GrpcMux } from '../../../supervisor/xds/subscriptions/grpc-mux.ts';
import { RESOURCE_TYPES, type DiscoveryKind } from '../../../supervisor/resolved/resource-kinds.ts';
import { wordsOf } from '../../../supervisor/xds/subscriptions/subscription-texts.ts';
import { Subscription } from '../../../supervisor/xds/subscriptions/subscription.ts';
import { GrpcConnections } from '../../../supervisor/services/grpc-connections.ts';
import { OwnRequestStats } from '../../../supervisor/services/own-request-stats.ts';

const METHOD = '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources';

export interface MuxDependencies {
  readonly statStore?: StatStore;
  readonly clock?: Clock;
  readonly connections?: GrpcConnections;
  readonly keepAlive?: OwnPings;
}

/** It tries again at once when its stream has ended; its cluster is called `control`. */
export function muxTo(port: number, dependencies: MuxDependencies = {}): GrpcMux {
  const { statStore = new StatStore(), clock = systemClock, keepAlive } = dependencies;
  const { connections = new GrpcConnections() } = dependencies;
  const stats = new OwnRequestStats(statStore, clock, 'control');
  const address = { kind: 'ip', address: '127.0.0.1', port } as const;
  const host = { address, protocol: 'h2', stats, ...(keepAlive && { keepAlive }) } as const;
  return new GrpcMux({
    source: {
      target: { kind: 'cluster', cluster: 'control', authority: 'control', metadata: [] },
      nodeOnFirstMessageOnly: true,
      isDelta: false,
      backOff: { firstMs: 1, maxMs: 1 },
    },
    method: METHOD,
    clusters: { pick: () => host },
    connections,
    clock,
    statStore,
    statPrefix: '',
    log: () => undefined,
    node: { id: 'me' },
    decoding: {
      unknownFields: 'ignore',
      scriptFolders: [],
      catalog: new ApiCatalog(),
      runtime: () => ({}),
      onWarnings: () => undefined,
    },
  });
}

export interface Subscribing extends MuxDependencies {
  /** The prefix of what it counts; `<kind>.` when absent. */
  readonly prefix?: string;
  /** Absent: takes everything. */
  readonly update?: (update: DiscoveryUpdate) => Promise<string | undefined>;
}

export function subscriptionTo(
  kind: DiscoveryKind,
  names: readonly string[],
  {
    statStore = new StatStore(),
    clock = systemClock,
    prefix = `${kind}.`,
    update,
  }: Subscribing = {},
): Subscription {
  const type = RESOURCE_TYPES[kind];
  return new Subscription({
    type,
    names,
    stats: DiscoveryStats.at(statStore, prefix),
    consumer: {
      update: update ?? (() => Promise.resolve(undefined)),
      refused: () => undefined,
      settled: () => undefined,
    },
    clock,
    initialFetchTimeoutMs: 0,
    words: wordsOf('ads', type),
    log: () => undefined,
  });
}
