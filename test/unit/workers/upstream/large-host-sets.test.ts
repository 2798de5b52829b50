import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HEALTH_BITS } from '../../../../shared/resources/clusters/host-health.ts';
import type { HostEntry } from '../../../../shared/resources/resource-update.ts';
import { cluster, host } from '../../../support/parts/data-plane.ts';
import { COUNT, many, setOf, idsOf, settled, manager } from './many-hosts.ts';

describe('a large host set', () => {
  for (const kind of ['round_robin', 'ring_hash', 'maglev'] as const) {
    it(`of ${kind} serves with its earlier hosts until the new ones are ready`, async () => {
      const clusters = manager(kind);
      await clusters.putHosts(setOf(many(1)));
      const upstream = clusters.get('c');
      assert.ok(upstream !== undefined);
      assert.equal(upstream.hosts.length, COUNT);
      const before = upstream.hosts;
      assert.equal(clusters.putHosts(setOf(many(2))), undefined);
      assert.equal(upstream.hosts, before);
      await settled(upstream, 2);
      assert.deepEqual(
        idsOf(upstream),
        many(2).map(({ id }) => id),
      );
      assert.equal(upstream.hosts[0], before[1]);
    });
  }

  it('is waited for when a cluster has none before', async () => {
    const clusters = manager();
    const first = clusters.putHosts(setOf(many(1)));
    assert.ok(first !== undefined);
    assert.equal(clusters.get('c')?.hosts.length, 0);
    await first;
    assert.equal(clusters.get('c')?.hosts.length, COUNT);
  });

  it('takes what is known of hosts in the order in which it came', async () => {
    const clusters = manager();
    await clusters.putHosts(setOf(many(1)));
    const upstream = clusters.get('c');
    assert.ok(upstream !== undefined);
    const { id } = host(COUNT + 1);
    upstream.putHosts(setOf(many(2)));
    upstream.putHealth([[id, HEALTH_BITS.failed_active_hc]]);
    await settled(upstream, 3);
    assert.equal(upstream.hosts.at(-1)?.id, id);
    assert.equal(upstream.hosts.at(-1)?.health, 'unhealthy');
    assert.deepEqual(upstream.health(), { total: COUNT, usable: COUNT - 1 });
  });

  it('passes over a set that a later one has replaced before it was begun', async () => {
    const clusters = manager();
    await clusters.putHosts(setOf(many(1)));
    const upstream = clusters.get('c');
    assert.ok(upstream !== undefined);
    for (const from of [10, 20, 30]) upstream.putHosts(setOf(many(from)));
    await settled(upstream, 2);
    assert.equal(upstream.hosts[0]?.id, host(30).id);
  });

  it('is there before another version of its cluster takes the place of the one in use', async () => {
    const clusters = manager();
    await clusters.putHosts(setOf(many(1)));
    const before = clusters.get('c');
    const replaced = clusters.putCluster(cluster('c', { lbPolicy: { kind: 'maglev' } }));
    assert.equal(clusters.get('c'), before);
    await replaced;
    const after = clusters.get('c');
    assert.notEqual(after, before);
    assert.equal(after?.hosts.length, COUNT);
  });

  it('takes hosts from the set before by their positions there', async () => {
    const clusters = manager();
    await clusters.putHosts({ ...setOf(many(1)), revision: 7 });
    const upstream = clusters.get('c');
    assert.ok(upstream !== undefined);
    const before = upstream.hosts;
    const hosts: readonly HostEntry[] = [
      { from: 100, count: COUNT - 100 },
      host(9999),
      { from: 0, count: 50 },
    ];
    const update = { cluster: 'c', hosts, overprovisioningFactor: 140, base: 7, revision: 8 };
    void clusters.putHosts(update);
    // Nothing is known of it yet when the next one comes.
    void clusters.putHosts({ ...update, hosts: [{ from: 1, count: 2950 }], base: 8 });
    await settled(upstream, 2);
    assert.deepEqual(
      [...upstream.hosts],
      [...before.slice(101), upstream.hosts[2899], ...before.slice(0, 50)],
    );
    assert.equal(upstream.hosts[2899]?.id, host(9999).id);
  });

  it('leaves a set alone that was sent before the one that it began with', async () => {
    const clusters = manager();
    await clusters.putHosts(setOf(many(1)));
    const upstream = clusters.get('c');
    assert.ok(upstream !== undefined);
    const hosts: readonly HostEntry[] = [{ from: 0, count: 10 }];
    void clusters.putHosts({ cluster: 'c', hosts, overprovisioningFactor: 140, base: 3 });
    await clusters.putHosts({ ...setOf(many(2)), revision: 4 });
    await settled(upstream, 2);
    assert.equal(upstream.hosts.length, COUNT);
    assert.equal(upstream.hosts[0]?.id, host(2).id);
  });
});
