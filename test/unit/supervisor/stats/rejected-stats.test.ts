import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CLUSTER, HOST } from '../../../../shared/stats/templates/cluster.ts';
import { REJECTED } from '../../../../supervisor/stats/stat-flags.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';

describe('what the statistics matcher leaves out', () => {
  it('takes no memory, however many blocks and names there are', () => {
    const store = new StatStore(() => false);
    store.defineBlock(CLUSTER, 'cluster.first.');
    store.defineCounter('cluster.first.upstream_rq_200');
    const { size } = store;
    for (let n = 0; n < 1000; n++) {
      store.defineBlock(CLUSTER, `cluster.service_${n}.`);
      store.defineCounter(`cluster.service_${n}.upstream_rq_200`);
    }
    assert.equal(store.size, size);
    assert.deepEqual([...store.definitions()], []);
  });

  it('can be written and released all the same', () => {
    const store = new StatStore((name) => name.startsWith('cluster.kept.'));
    const kept = store.defineBlock(CLUSTER, 'cluster.kept.');
    const left = store.defineBlock(CLUSTER, 'cluster.left.');
    store.increment(left + CLUSTER.index.upstream_rq_total);
    store.record(left + CLUSTER.index.upstream_cx_length_ms, 3);
    store.releaseBlock(left);
    assert.equal(store.valueOf(kept + CLUSTER.index.upstream_rq_total), 0);
    assert.equal(store.flagsOf(left) & REJECTED, REJECTED);
  });

  it('leaves the rest of a block as it is', () => {
    const store = new StatStore((name) => name.endsWith('_total'));
    const base = store.defineBlock(CLUSTER, 'cluster.web.');
    store.increment(base + CLUSTER.index.upstream_rq_total);
    assert.equal(store.flagsOf(base + CLUSTER.index.upstream_rq_total) & REJECTED, 0);
    assert.equal(store.flagsOf(base + CLUSTER.index.upstream_rq_active) & REJECTED, REJECTED);
    assert.equal(store.printedValue(base + CLUSTER.index.upstream_rq_total), '1');
  });

  it('does not concern the figures of hosts, which are no statistics', () => {
    const store = new StatStore(() => false);
    store.increment(store.defineBlock(HOST, 'host.web.a.') + HOST.index.rq_total);
    const found = store.find(HOST, 'host.web.a.');
    assert.equal(store.valueOf((found?.base ?? 0) + HOST.index.rq_total), 1);
  });
});
