import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../../../../shared/api/well-known.ts';
import {
  ResourceStore,
  type ResourceVersion,
} from '../../../../supervisor/store/resource-store.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { atOnce, LoopTurns, type Steps } from '../../../../supervisor/loop/loop-turns.ts';
import { ClusterSwap } from '../../../../supervisor/xds/kinds/cluster-swap.ts';
import type {
  DiscoveryConsumer,
  DiscoveryUpdate,
} from '../../../../supervisor/xds/subscriptions/discovery-update.ts';
import {
  discoverRoutes,
  type RouteDiscoveryOptions,
} from '../../../../supervisor/xds/kinds/named-routes.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const CLUSTER = { message: {}, versionInfo: '', lastUpdatedMs: 0, resolved: {} };
const ROUTES = { key: 'rc', name: 'rc', statPrefix: 'web', source: { kind: 'ads' } };

function routesTo(cluster: string): DiscoveryUpdate {
  const message: JsonObject = { name: 'rc', cluster };
  return {
    versionInfo: cluster,
    resources: [{ name: 'rc', versionInfo: '', message }],
    removed: [],
  };
}

// eslint-disable-next-line require-yield -- it takes no time
function* routesInSteps(): Steps<unknown> {
  return { resolved: {}, secrets: [] };
}

/** The routes are those of a version of a listener that takes another's place: they wait. */
function replaceListener(store: ResourceStore): void {
  const version = (namedRoutes: readonly object[]): ResourceVersion<'listener'> =>
    ({ ...CLUSTER, resolved: { namedRoutes } }) as unknown as ResourceVersion<'listener'>;
  store.putActive('listener', 'web', version([]));
  store.putWarming('listener', 'web', version([ROUTES]));
}

/** Named routes whose way to the workers ends when the test says so. */
function startRoutes(): {
  readonly store: ResourceStore;
  readonly clock: ManualClock;
  readonly swap: ClusterSwap;
  readonly consumer: DiscoveryConsumer;
  readonly underWay: (() => void)[];
  readonly inForce: () => unknown;
} {
  const store = new ResourceStore();
  replaceListener(store);
  const clock = new ManualClock();
  const swap = new ClusterSwap(store, clock);
  const underWay: (() => void)[] = [];
  const opened: DiscoveryConsumer[] = [];
  const options = {
    store,
    clock,
    swap,
    statStore: new StatStore(),
    resolver: { routesInSteps },
    turns: new LoopTurns(),
    sources: {
      open: ({ consumer }: { readonly consumer: DiscoveryConsumer }) => {
        opened.push(consumer);
        return { start: () => undefined, close: () => undefined };
      },
    },
    apply: async () => {
      await new Promise<void>((resolve) => void underWay.push(resolve));
      return [];
    },
    log: () => undefined,
  };
  discoverRoutes(options as unknown as RouteDiscoveryOptions).use(ROUTES as never);
  const [consumer] = opened;
  assert.ok(consumer !== undefined);
  const inForce = (): unknown => store.get('route_configuration', 'rc')?.active?.message['cluster'];
  return { store, clock, swap, consumer, underWay, inForce };
}

function putCluster(store: ResourceStore, name: string, isWarm = true): void {
  store.putWarming('cluster', name, CLUSTER as unknown as ResourceVersion<'cluster'>);
  if (isWarm) store.promote('cluster', name);
}

describe('routes that are sent one after the other', () => {
  it('are accepted before their clusters are warm, and leave their place to those that follow', async () => {
    const { store, consumer, underWay, inForce } = startRoutes();
    putCluster(store, 'slow', false);
    putCluster(store, 'there');
    assert.equal(await consumer.update(routesTo('slow')), undefined);
    assert.equal(underWay.length, 0);
    const taken = consumer.update(routesTo('there'));
    await nextTurn();
    assert.equal(underWay.length, 1);
    underWay.shift()?.();
    assert.equal(await taken, undefined);
    store.promote('cluster', 'slow');
    await nextTurn();
    assert.equal(underWay.length, 0);
    assert.equal(inForce(), 'there');
  });

  it('keep their clusters until they are with the workers, though others are waiting', async () => {
    const { store, clock, swap, consumer, underWay, inForce } = startRoutes();
    putCluster(store, 'one');
    const taken = consumer.update(routesTo('one'));
    await nextTurn();
    putCluster(store, 'two', false);
    atOnce(swap.remove(['one']));
    assert.equal(await consumer.update(routesTo('two')), undefined);
    clock.pass(1000);
    assert.ok(store.get('cluster', 'one')?.draining !== undefined);
    underWay.shift()?.();
    assert.equal(await taken, undefined);
    assert.equal(inForce(), 'one');
    store.promote('cluster', 'two');
    await nextTurn();
    underWay.shift()?.();
    await nextTurn();
    assert.equal(inForce(), 'two');
    clock.pass(1000);
    assert.equal(store.get('cluster', 'one'), undefined);
  });
});
