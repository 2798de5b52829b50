import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../../shared/clock.ts';
import { ApiCatalog } from '../../../supervisor/config/api/api-catalog.ts';
import { StatStore } from '../../../supervisor/stats/stat-store.ts';
import { DiscoveryStats } from '../../../supervisor/xds/subscriptions/discovery-stats.ts';
import { OwnRequestStats } from '../../../supervisor/xds/transport/own-request-stats.ts';
import { GrpcMux } from '../../../supervisor/xds/subscriptions/grpc-mux.ts';
import {
  RESOURCE_TYPES,
  type DiscoveryKind,
} from '../../../supervisor/xds/subscriptions/resource-type.ts';
import { wordsOf } from '../../../supervisor/xds/subscriptions/subscription-words.ts';
import { Subscription } from '../../../supervisor/xds/subscriptions/subscription.ts';
import { startControlPlane, type ControlPlane } from '../../support/control-plane.ts';
import { resource } from '../../support/discovery-files.ts';
import { waitUntil } from '../../support/wait.ts';

const METHOD = '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources';

function muxTo({ port }: ControlPlane, statStore: StatStore): GrpcMux {
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

describe('answers on one stream', () => {
  it('take no clusters away before routes that were sent earlier are taken', async () => {
    await using control = await startControlPlane();
    const statStore = new StatStore();
    const mux = muxTo(control, statStore);
    const seen: string[] = [];
    const held: (() => void)[] = [];
    const subscribe = (kind: DiscoveryKind, names: readonly string[]): void =>
      mux.add(
        new Subscription({
          type: RESOURCE_TYPES[kind],
          names,
          stats: DiscoveryStats.at(statStore, `${kind}.`),
          clock: systemClock,
          initialFetchTimeoutMs: 0,
          words: wordsOf('ads', RESOURCE_TYPES[kind]),
          log: () => undefined,
          consumer: {
            update: async ({ versionInfo }) => {
              seen.push(`${kind} ${versionInfo} begins`);
              if (kind === 'route_configuration') {
                await new Promise<void>((resolve) => void held.push(resolve));
              }
              seen.push(`${kind} ${versionInfo} taken`);
              return undefined;
            },
            refused: () => undefined,
            settled: () => undefined,
          },
        }),
      );
    subscribe('cluster', []);
    subscribe('route_configuration', ['rc']);
    await waitUntil('both questions', () => control.requests.length >= 2);
    control.set('route.v3.RouteConfiguration', '1', [resource.routes('rc', [])]);
    await waitUntil('routes that take their time', () => held.length === 1);
    control.set('route.v3.RouteConfiguration', '2', [resource.routes('rc', [])]);
    control.set('cluster.v3.Cluster', '3', []);
    held.shift()?.();
    await waitUntil('the second routes', () => held.length === 1);
    held.shift()?.();
    await waitUntil('the clusters', () => seen.includes('cluster 3 taken'));
    mux.close();
    assert.deepEqual(seen, [
      'route_configuration 1 begins',
      'route_configuration 1 taken',
      'route_configuration 2 begins',
      'route_configuration 2 taken',
      'cluster 3 begins',
      'cluster 3 taken',
    ]);
  });
});
