import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ResourceStore,
  type ResourceVersion,
} from '../../../../supervisor/store/resource-store.ts';
import { atOnce } from '../../../../supervisor/loop/loop-turns.ts';
import { ClusterSwap } from '../../../../supervisor/xds/kinds/cluster-swap.ts';
import { staticCluster } from '../../../support/parts/bootstrap.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { resolveConfig } from '../resources/resolve-text.ts';

const outcome = await resolveConfig({
  static_resources: { clusters: [staticCluster('c', [80])] },
});
const [resolved] =
  outcome.kind === 'resolved' ? (outcome.resolution.bootstrap?.clusters ?? []) : [];
assert.ok(resolved !== undefined);
const CLUSTER: ResourceVersion<'cluster'> = {
  message: {},
  versionInfo: '1',
  lastUpdatedMs: 1,
  resolved,
};

const SECOND_MS = 1000;

function swapped(): { store: ResourceStore; clock: ManualClock; swap: ClusterSwap } {
  const store = new ResourceStore();
  const clock = new ManualClock();
  return { store, clock, swap: new ClusterSwap(store, clock) };
}

const routesTo = (cluster: string): { readonly route: string } => ({ route: cluster });

/** A listener says as much of the clusters it names as routes do. */
function name(store: ResourceStore, cluster: string): void {
  const active = store.get('listener', 'l')?.active;
  const version = { ...(active ?? CLUSTER), message: routesTo(cluster) };
  store.putActive('listener', 'l', version as unknown as ResourceVersion<'listener'>);
}

describe('routes on their way to clusters', () => {
  it('wait for those that warm, and for no others', () => {
    const { store, swap } = swapped();
    store.putWarming('cluster', 'slow', CLUSTER);
    store.putActive('cluster', 'there', CLUSTER);
    assert.ok(atOnce(swap.hold([routesTo('there'), routesTo('unknown')])).isReady());
    const hold = atOnce(swap.hold([routesTo('slow')]));
    assert.ok(!hold.isReady());
    store.promote('cluster', 'slow');
    assert.ok(hold.isReady());
  });

  it('wait on when such a cluster goes, until it is back, for ten seconds in all', () => {
    const { store, clock, swap } = swapped();
    store.putWarming('cluster', 'slow', CLUSTER);
    const holds = [
      atOnce(swap.hold([routesTo('slow')])),
      atOnce(swap.hold([routesTo('slow')])),
    ] as const;
    clock.pass(4 * SECOND_MS);
    store.remove('cluster', 'slow');
    clock.pass(6 * SECOND_MS - 1);
    assert.ok(!holds[0].isReady() && !holds[1].isReady());
    clock.pass(1);
    assert.ok(holds[0].isReady() && holds[1].isReady());
  });

  it('wait no longer when they are released', async () => {
    const { store, swap } = swapped();
    store.putWarming('cluster', 'slow', CLUSTER);
    const hold = atOnce(swap.hold([routesTo('slow')]));
    hold.release();
    await hold.ready;
    assert.ok(hold.isReady());
  });
});

describe('a cluster that goes', () => {
  it('stays while it is named or will be, and goes fifteen seconds later in any case', () => {
    const { store, clock, swap } = swapped();
    store.putActive('cluster', 'old', CLUSTER);
    const hold = atOnce(swap.hold([routesTo('old')]));
    atOnce(swap.remove(['old']));
    clock.pass(SECOND_MS);
    assert.ok(store.get('cluster', 'old')?.draining !== undefined);
    name(store, 'old');
    hold.release();
    clock.pass(13 * SECOND_MS);
    assert.ok(store.get('cluster', 'old')?.draining !== undefined);
    clock.pass(2 * SECOND_MS);
    assert.equal(store.get('cluster', 'old'), undefined);
  });

  it('stays longer while routes that name it no more wait for their clusters', () => {
    const { store, clock, swap } = swapped();
    store.putActive('cluster', 'old', CLUSTER);
    name(store, 'old');
    atOnce(swap.remove(['old']));
    clock.pass(9 * SECOND_MS);
    store.putWarming('cluster', 'new', CLUSTER);
    const hold = atOnce(swap.hold([routesTo('new')]));
    clock.pass(9 * SECOND_MS);
    assert.ok(store.get('cluster', 'old')?.draining !== undefined);
    store.promote('cluster', 'new');
    assert.ok(hold.isReady());
    name(store, 'new');
    hold.release();
    clock.pass(SECOND_MS);
    assert.equal(store.get('cluster', 'old'), undefined);
  });
});
