/** A state-of-the-world stream to a control plane of a test, with nothing else of a server around it. */
import { systemClock } from '../../shared/clock.ts';
import { ApiCatalog } from '../../supervisor/config/api/api-catalog.ts';
import type { StatStore } from '../../supervisor/stats/stat-store.ts';
import { DiscoveryStats } from '../../supervisor/xds/subscriptions/discovery-stats.ts';
import type { DiscoveryConsumer } from '../../supervisor/xds/subscriptions/discovery-update.ts';
import { GrpcMux } from '../../supervisor/xds/subscriptions/grpc-mux.ts';
import {
  RESOURCE_TYPES,
  type DiscoveryKind,
} from '../../supervisor/xds/subscriptions/resource-type.ts';
import { wordsOf } from '../../supervisor/xds/subscriptions/subscription-words.ts';
import { Subscription } from '../../supervisor/xds/subscriptions/subscription.ts';
import { OwnRequestStats } from '../../supervisor/xds/transport/own-request-stats.ts';
import type { ControlPlane } from './control-plane.ts';

const METHOD = '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources';

export function muxTo({ port }: ControlPlane, statStore: StatStore): GrpcMux {
  const stats = new OwnRequestStats(statStore, systemClock, 'control');
  const address = { kind: 'ip', address: '127.0.0.1', port } as const;
  return new GrpcMux({
    source: {
      target: { kind: 'cluster', cluster: 'control', authority: 'control', metadata: [] },
      nodeOnFirstMessageOnly: true,
      isDelta: false,
      backOff: { firstMs: 500, maxMs: 1000 },
    },
    method: METHOD,
    clusters: { pick: () => ({ address, protocol: 'h2', stats }) },
    clock: systemClock,
    statStore,
    statPrefix: '',
    log: () => undefined,
    node: { id: 'me' },
    decoding: {
      unknownFields: 'ignore',
      catalog: new ApiCatalog(),
      runtime: () => ({}),
      onWarnings: () => undefined,
    },
  });
}

/** What the subscription counts begins with `prefix`. */
export function subscriptionTo(
  kind: DiscoveryKind,
  names: readonly string[],
  parts: {
    readonly statStore: StatStore;
    readonly prefix: string;
    readonly update: DiscoveryConsumer['update'];
  },
): Subscription {
  return new Subscription({
    type: RESOURCE_TYPES[kind],
    names,
    stats: DiscoveryStats.at(parts.statStore, parts.prefix),
    clock: systemClock,
    initialFetchTimeoutMs: 0,
    words: wordsOf('ads', RESOURCE_TYPES[kind]),
    log: () => undefined,
    consumer: { update: parts.update, refused: () => undefined, settled: () => undefined },
  });
}
