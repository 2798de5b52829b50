import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeConfigView } from '../../../../supervisor/admin/views/config-view.ts';
import {
  ResourceStore,
  type ResourceChange,
  type ResourceVersion,
} from '../../../../supervisor/store/resource-store.ts';
import { LazyBatches } from '../../../../supervisor/store/lazy-batches.ts';
import { startUpdates } from '../../../../supervisor/store/start-updates.ts';
import type { ClusterHostsResource } from '../../../../shared/resources/clusters/cluster.ts';
import { storeStaticResources } from '../../../../supervisor/store/static-store.ts';
import { baseBootstrap } from '../resources/base-bootstrap.ts';
import { resolveConfig } from '../resources/resolve-text.ts';

function routes(versionInfo: string): ResourceVersion<'route_configuration'> {
  const none = { add: [], remove: [] };
  return {
    message: { name: 'r', metadata: { version: versionInfo } },
    versionInfo,
    lastUpdatedMs: 7,
    resolved: {
      name: 'r',
      virtualHosts: [],
      requestHeaders: none,
      responseHeaders: none,
      internalOnlyHeaders: [],
      mostSpecificHeaderMutationsWins: false,
      ignorePortInHostMatching: false,
      maxDirectResponseBodySizeBytes: 4096,
      typedPerFilterConfig: new Map(),
    },
  };
}

describe('the resource store', () => {
  it('keeps a warming version beside the active one until it is promoted', () => {
    const store = new ResourceStore();
    store.putActive('route_configuration', 'r', routes('1'));
    store.putWarming('route_configuration', 'r', routes('2'));
    assert.equal(store.get('route_configuration', 'r')?.active?.versionInfo, '1');
    assert.equal(store.promote('route_configuration', 'r'), true);
    const entry = store.get('route_configuration', 'r');
    assert.equal(entry?.active?.versionInfo, '2');
    assert.equal(entry?.warming, undefined);
    assert.equal(store.promote('route_configuration', 'r'), false);
  });

  it('keeps a draining version beside the others until it has drained', () => {
    const store = new ResourceStore();
    store.putActive('route_configuration', 'r', routes('2'));
    store.drain('route_configuration', 'r', routes('1'));
    const entry = store.get('route_configuration', 'r');
    assert.equal(entry?.active?.versionInfo, '2');
    assert.equal(entry?.draining?.versionInfo, '1');
    store.drained('route_configuration', 'r');
    assert.equal(store.get('route_configuration', 'r')?.draining, undefined);
  });

  it('remembers a refused update without touching what is active', () => {
    const store = new ResourceStore();
    store.putActive('route_configuration', 'r', routes('1'));
    const refused = { details: 'bad', lastAttemptMs: 8 };
    store.refuse('route_configuration', 'r', refused);
    assert.equal(store.get('route_configuration', 'r')?.active?.versionInfo, '1');
    assert.deepEqual(store.get('route_configuration', 'r')?.refused, refused);
    store.putActive('route_configuration', 'r', routes('3'));
    assert.equal(store.get('route_configuration', 'r')?.refused, undefined);
  });

  it('forgets what was refused, and an entry that is nothing else', () => {
    const store = new ResourceStore();
    const refused = { details: 'bad', lastAttemptMs: 8 };
    store.putActive('route_configuration', 'r', routes('1'));
    for (const name of ['r', 'never']) store.refuse('route_configuration', name, refused);
    for (const name of ['r', 'never']) store.forgive('route_configuration', name);
    assert.equal(store.get('route_configuration', 'r')?.refused, undefined);
    assert.equal(store.get('route_configuration', 'r')?.active?.versionInfo, '1');
    assert.equal(store.get('route_configuration', 'never'), undefined);
  });

  it('tells subscribers of every change in its order, until they end it', () => {
    const store = new ResourceStore();
    const changes: ResourceChange[] = [];
    const end = store.subscribe((change) => void changes.push(change));
    store.putWarming('route_configuration', 'r', routes('1'));
    store.promote('route_configuration', 'r');
    store.remove('route_configuration', 'r');
    assert.equal(store.remove('route_configuration', 'r'), false);
    end();
    store.putActive('route_configuration', 'r', routes('2'));
    assert.deepEqual(
      changes.map(({ change }) => change),
      ['warming', 'active', 'removed'],
    );
  });

  it('lists resources in the order in which their names came', () => {
    const store = new ResourceStore();
    for (const name of ['b', 'a', 'c']) store.putActive('route_configuration', name, routes('1'));
    store.putActive('route_configuration', 'b', routes('2'));
    assert.deepEqual(
      [...store.list('route_configuration')].map(({ name }) => name),
      ['b', 'a', 'c'],
    );
    assert.equal(store.count('route_configuration'), 3);
  });
});

const none = (cluster: string): ClusterHostsResource => ({
  cluster,
  hosts: [],
  overprovisioningFactor: 140,
});

describe('a store with a bootstrap', () => {
  const filled = async (): Promise<ResourceStore> => {
    const outcome = await resolveConfig(baseBootstrap());
    assert.equal(outcome.kind, 'resolved');
    const store = new ResourceStore();
    if (outcome.kind === 'resolved') {
      storeStaticResources(store, outcome.resolution.resources, 1_000);
    }
    return store;
  };

  it('gives a worker clusters with their hosts', async () => {
    const updates = [...startUpdates(await filled(), none, new LazyBatches())].map(({ op }) => op);
    assert.deepEqual(updates, ['put_idle_clusters']);
  });

  it('shows dynamic listeners as warming until the server serves', async () => {
    const store = await filled();
    const active = store.get('listener', 'l')?.active;
    assert.ok(active !== undefined);
    store.putWarming('listener', 'dynamic', active);
    store.promote('listener', 'dynamic');
    const shown = (isStarting: boolean): string[] => {
      const view = makeConfigView({
        store,
        assignmentOf: none,
        bootstrap: {},
        node: {},
        loadedAtMs: 1,
        unreadyTargets: () => [],
        isStarting: () => isStarting,
      });
      return [...view.listeners().dynamic].flatMap((listener) => Object.keys(listener));
    };
    assert.deepEqual(shown(true), ['name', 'warming']);
    assert.deepEqual(shown(false), ['name', 'active']);
  });

  it('shows the messages as they were given, and hosts as an assignment', async () => {
    const store = await filled();
    const view = makeConfigView({
      store,
      assignmentOf: (name) => store.get('cluster', name)?.active?.resolved.hosts ?? none(name),
      bootstrap: {},
      node: {},
      loadedAtMs: 1,
      unreadyTargets: () => [],
      isStarting: () => false,
    });
    const [cluster] = view.clusters().static;
    assert.equal(cluster?.message['@type'], 'type.googleapis.com/envoy.config.cluster.v3.Cluster');
    assert.equal(cluster?.message['name'], 'c');
    assert.equal(cluster?.lastUpdatedMs, 1_000);
    assert.equal([...view.listeners().static][0]?.name, 'l');
    assert.equal([...view.routes().static].length, 1);
    assert.deepEqual([...view.endpoints().static][0]?.message, {
      '@type': 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
      cluster_name: 'c',
      endpoints: [
        {
          locality: {},
          lb_endpoints: [
            {
              endpoint: {
                address: { socket_address: { address: '127.0.0.1', port_value: 1 } },
                health_check_config: {},
              },
              health_status: 'HEALTHY',
              load_balancing_weight: 1,
            },
          ],
          load_balancing_weight: 0,
        },
      ],
      policy: { overprovisioning_factor: 140 },
    });
  });
});
