import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import type { DiscoveryKind } from '../../../../supervisor/resolved/resource-kinds.ts';
import { startControlPlane } from '../../../support/peers/control-plane.ts';
import { resource } from '../../../support/peers/discovery-files.ts';
import { muxTo, subscriptionTo } from '../../../support/peers/mux.ts';
import { waitUntil } from '../../../support/wait.ts';

describe('answers on one stream', () => {
  it('take no clusters away before routes that were sent earlier are taken', async () => {
    await using control = await startControlPlane();
    const statStore = new StatStore();
    const mux = muxTo(control.port, { statStore });
    const seen: string[] = [];
    const held: (() => void)[] = [];
    const subscribe = (kind: DiscoveryKind, names: readonly string[]): void =>
      mux.add(
        subscriptionTo(kind, names, {
          statStore,
          update: async ({ versionInfo }) => {
            seen.push(`${kind} ${versionInfo} begins`);
            if (kind === 'route_configuration') {
              await new Promise<void>((resolve) => void held.push(resolve));
            }
            seen.push(`${kind} ${versionInfo} taken`);
            return undefined;
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
