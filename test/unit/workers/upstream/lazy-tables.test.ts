import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { HostResource } from '../../../../shared/resources/clusters/cluster.ts';
import {
  mayBeLazy,
  type ClusterWithHosts,
} from '../../../../shared/resources/clusters/lazy-clusters.ts';
import type { NestedPolicy } from '../../../../shared/resources/clusters/lb-policy.ts';
import { MAGLEV, RING_HASH } from '../../../../shared/stats/templates/cluster-features.ts';
import { LazyBatches } from '../../../../supervisor/store/lazy-batches.ts';
import { ClusterManager } from '../../../../workers/upstream/cluster-manager.ts';
import type { ClusterContext } from '../../../../workers/upstream/cluster-context.ts';
import { clusterContext } from '../../../support/parts/balancers.ts';
import { cluster, host } from '../../../support/parts/data-plane.ts';

type Policy = NestedPolicy;

const RING = { hashFunction: 'XX_HASH', usesHostname: false } as const;

const hostsOf = (count: number, changes: Partial<HostResource> = {}): readonly HostResource[] =>
  Array.from({ length: count }, (_, at) => host(at + 1, { weight: 3, ...changes }));

const withPolicy = (policy: Policy, hosts: readonly HostResource[]): ClusterWithHosts => ({
  cluster: cluster('c', { lbPolicy: { ...policy } }),
  hosts: { cluster: 'c', hosts, overprovisioningFactor: 140 },
});

function figuresOf({ stats }: ClusterContext): readonly number[] {
  const [ring, maglev] = [
    stats.defineBlock(RING_HASH, 'cluster.c.ring_hash_lb.'),
    stats.defineBlock(MAGLEV, 'cluster.c.maglev_lb.'),
  ];
  const bases = [...RING_HASH.stats.keys()].map((at) => ring + at);
  const figures = [...bases, ...[...MAGLEV.stats.keys()].map((at) => maglev + at)].map((at) =>
    stats.valueOf(at),
  );
  stats.releaseBlock(ring);
  stats.releaseBlock(maglev);
  return figures;
}

function idling(both: ClusterWithHosts): {
  readonly manager: ClusterManager;
  readonly context: ClusterContext;
} {
  const context = clusterContext();
  const manager = new ClusterManager(context);
  for (const update of new LazyBatches().updates([both])) {
    assert.equal(update.op, 'put_idle_clusters');
    if (update.op === 'put_idle_clusters') void manager.apply(update);
  }
  return { manager, context };
}

describe('the table of a cluster that nobody uses yet', () => {
  it('has the figures that it has when somebody asks, whatever its sizes', () => {
    const ring = fc
      .record({ minRingSize: fc.nat(2048), maxRingSize: fc.integer({ min: 1, max: 4096 }) })
      .map((sizes): Policy => ({ kind: 'ring_hash', options: { ...RING, ...sizes } }));
    const maglev = fc.constantFrom(2, 211, 1009, 65_537).map((tableSize): Policy => ({
      kind: 'maglev',
      options: { tableSize, usesHostname: false },
    }));
    fc.assert(
      fc.property(fc.oneof(ring, maglev), fc.integer({ min: 1, max: 120 }), (policy, count) => {
        const { manager, context } = idling(withPolicy(policy, hostsOf(count)));
        const before = figuresOf(context);
        assert.equal(manager.get('c')?.hosts.length, count);
        assert.deepEqual(figuresOf(context), before);
        manager.close();
      }),
      { numRuns: 30 },
    );
  });

  it('is told of once, and no more when the cluster is gone', () => {
    for (const wakes of [false, true]) {
      const { manager, context } = idling(withPolicy({ kind: 'maglev' }, hostsOf(100)));
      assert.deepEqual(figuresOf(context), [0, 0, 0, 656, 655]);
      if (wakes) assert.notEqual(manager.get('c'), undefined);
      void manager.apply({ op: 'remove_cluster', name: 'c' });
      assert.deepEqual(figuresOf(context), [0, 0, 0, 0, 0]);
      manager.close();
    }
  });

  it('follows hosts that come before anybody asks', () => {
    const { manager, context } = idling(withPolicy({ kind: 'maglev' }, hostsOf(100)));
    const hosts = { cluster: 'c', hosts: hostsOf(2), overprovisioningFactor: 140 };
    void manager.apply({ op: 'put_hosts', hosts });
    assert.deepEqual(figuresOf(context), [0, 0, 0, 32_769, 32_768]);
    manager.close();
  });

  it('is not left for later where the number of hosts does not say all of it', () => {
    const policy: Policy = { kind: 'ring_hash' };
    assert.equal(mayBeLazy(withPolicy(policy, hostsOf(3))), true);
    const others = hostsOf(2);
    for (const both of [
      withPolicy(policy, []),
      withPolicy(policy, [...others, host(9, { weight: 2 })]),
      withPolicy(policy, [...others, host(9, { weight: 3, priority: 1 })]),
      withPolicy(policy, [...others, host(9, { weight: 3, health: 'unhealthy' })]),
      withPolicy(
        { ...policy, localities: { kind: 'weighted' } },
        hostsOf(3, { localityWeight: 1 }),
      ),
      withPolicy({ ...policy, options: { ...RING, minRingSize: 9000, maxRingSize: 9000 } }, others),
      withPolicy(
        { kind: 'maglev', options: { tableSize: 5_000_011, usesHostname: false } },
        others,
      ),
    ]) {
      assert.equal(mayBeLazy(both), false);
    }
  });
});
