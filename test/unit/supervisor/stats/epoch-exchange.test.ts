import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER } from '../../../../shared/stats/templates/cluster.ts';
import { EpochExport, ParentShare } from '../../../../supervisor/stats/epoch-exchange.ts';
import { OrderedView } from '../../../../supervisor/stats/ordered-view.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';

const { upstream_rq_total: RQ_TOTAL, upstream_cx_active: CX_ACTIVE } = CLUSTER.index;
const { membership_total: MEMBERSHIP_TOTAL } = CLUSTER.index;

interface Epoch {
  readonly store: StatStore;
  readonly cluster: number;
}

function epoch(): Epoch {
  const store = new StatStore();
  return { store, cluster: store.defineBlock(CLUSTER, 'cluster.a.') };
}

test('a child goes on where its parent stood and follows it', async () => {
  const parent = epoch();
  const child = epoch();
  parent.store.add(parent.cluster + RQ_TOTAL, 100);
  parent.store.add(parent.cluster + CX_ACTIVE, 5);
  parent.store.setGauge(parent.cluster + MEMBERSHIP_TOTAL, 3);
  child.store.add(child.cluster + RQ_TOTAL, 1);
  child.store.add(child.cluster + CX_ACTIVE, 1);
  const told = new EpochExport(parent.store, new OrderedView(parent.store));
  const share = new ParentShare(child.store);
  share.merge(await told.take());
  const seen = (index: number): number => child.store.valueOf(child.cluster + index);
  assert.deepEqual([seen(RQ_TOTAL), seen(CX_ACTIVE), seen(MEMBERSHIP_TOTAL)], [101, 6, 0]);
  parent.store.increment(parent.cluster + RQ_TOTAL);
  parent.store.subtract(parent.cluster + CX_ACTIVE, 4);
  const second = await told.take();
  assert.deepEqual([...second.counterDeltas], [['cluster.a.upstream_rq_total', 1]]);
  share.merge(second);
  assert.deepEqual([seen(RQ_TOTAL), seen(CX_ACTIVE)], [102, 2]);
  share.leave();
  assert.deepEqual([seen(RQ_TOTAL), seen(CX_ACTIVE)], [102, 1]);
});

test('a reset in the parent takes nothing from the child', async () => {
  const parent = epoch();
  const told = new EpochExport(parent.store, new OrderedView(parent.store));
  parent.store.add(parent.cluster + RQ_TOTAL, 3);
  await told.take();
  parent.store.add(parent.cluster + RQ_TOTAL, 2);
  parent.store.resetCounters();
  assert.deepEqual([...(await told.take()).counterDeltas.values()], [2]);
});

test('a counter that only the parent knows is kept and goes on in its block once there is one', () => {
  const { store } = epoch();
  new ParentShare(store).merge({
    counterDeltas: new Map([
      ['cluster.b.upstream_rq_total', 7],
      ['cluster.b.upstream_rq_200', 7],
    ]),
    gauges: new Map([['cluster.b.upstream_cx_active', 1]]),
  });
  const block = store.defineBlock(CLUSTER, 'cluster.b.');
  assert.equal(store.valueOf(block + RQ_TOTAL), 7);
  assert.equal(store.valueOf(block + CX_ACTIVE), 0);
  assert.equal(store.defineCounter('cluster.b.upstream_rq_total'), block + RQ_TOTAL);
  assert.equal(store.valueOf(store.defineCounter('cluster.b.upstream_rq_200')), 7);
  const names = [...store.definitions()].map(({ name }) => name);
  assert.deepEqual(names, ['cluster.a.', 'cluster.b.upstream_rq_200', 'cluster.b.']);
});
