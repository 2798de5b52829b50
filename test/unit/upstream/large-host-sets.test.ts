import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ClusterHostsResource, HostResource } from '../../../shared/resources/cluster.ts';
import { joinHosts, splitHosts, weightOf } from '../../../shared/resources/host-parts.ts';
import { HEALTH_BITS } from '../../../shared/resources/host-health.ts';
import type { HostEntry, ResourceUpdate } from '../../../shared/resources/resource-update.ts';
import { isSameHost, keepSameHosts } from '../../../supervisor/upstreams/same-host.ts';
import { SentHosts } from '../../../supervisor/upstreams/sent-hosts.ts';
import { finish, SlicedWork, sortInSteps, type Steps } from '../../../workers/sliced-work.ts';
import { ClusterManager } from '../../../workers/upstream/cluster-manager.ts';
import type { UpstreamCluster } from '../../../workers/upstream/cluster.ts';
import { WorkerLoop } from '../../../workers/worker-loop.ts';
import { clusterContext } from '../../support/balancers.ts';
import { cluster, host } from '../../support/data-plane.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const COUNT = 3000;

const many = (from: number, count = COUNT): readonly HostResource[] =>
  Array.from({ length: count }, (_, at) => host(from + at));
const setOf = (hosts: readonly HostResource[]): ClusterHostsResource => ({
  cluster: 'c',
  hosts,
  overprovisioningFactor: 140,
});
const idsOf = ({ hosts }: UpstreamCluster): readonly string[] => hosts.map(({ id }) => id);

async function settled(upstream: UpstreamCluster, version: number): Promise<void> {
  for (let turn = 0; upstream.version < version && turn < 10_000; turn++) await setImmediate();
  assert.equal(upstream.version, version);
}

function manager(kind: 'ROUND_ROBIN' | 'RING_HASH' | 'MAGLEV' = 'ROUND_ROBIN'): ClusterManager {
  const clusters = new ClusterManager(clusterContext());
  clusters.putCluster(cluster('c', { lbPolicy: { kind, healthyPanicThreshold: 50 } }));
  return clusters;
}

describe('a large host set', () => {
  for (const kind of ['ROUND_ROBIN', 'RING_HASH', 'MAGLEV'] as const) {
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

  it('takes hosts by their ids where the worker has them', async () => {
    const clusters = manager();
    await clusters.putHosts(setOf(many(1)));
    const upstream = clusters.get('c');
    assert.ok(upstream !== undefined);
    const kept = upstream.hosts[4];
    const hosts: HostEntry[] = many(1).map(({ id }) => id);
    hosts[0] = host(9999);
    hosts.push('a host of a set before the first');
    void clusters.putHosts({ cluster: 'c', hosts, overprovisioningFactor: 140 });
    await settled(upstream, 2);
    assert.equal(upstream.hosts.length, COUNT);
    assert.equal(upstream.hosts[0]?.id, host(9999).id);
    assert.equal(upstream.hosts[4], kept);
  });
});

describe('host sets on their way to workers', () => {
  it('come out of their parts as they were', () => {
    const updates: readonly ResourceUpdate[] = [
      { op: 'put_hosts', hosts: setOf(many(1, 3)) },
      { op: 'put_hosts', hosts: setOf(many(1)) },
      { op: 'remove_cluster', name: 'other' },
      { op: 'put_hosts', hosts: { ...setOf([]), hosts: many(1).map(({ id }) => id) } },
    ];
    const parts = splitHosts(updates);
    assert.ok(parts.length > updates.length);
    for (const part of parts) {
      if (part.op === 'put_hosts') assert.ok(weightOf(part.hosts.hosts) <= 257);
    }
    assert.deepEqual(joinHosts(parts), updates);
  });

  it('name hosts that were sent before by their ids, unless they are others now', () => {
    const sent = new SentHosts();
    const hosts = [...many(1)];
    assert.deepEqual(sent.updateOf(setOf(hosts)), { op: 'put_hosts', hosts: setOf(hosts) });
    hosts[7] = { ...host(8), weight: 2 };
    const update = sent.updateOf(setOf(hosts));
    const entries = update.op === 'put_hosts' ? update.hosts.hosts : [];
    assert.equal(entries[7], hosts[7]);
    assert.deepEqual(
      entries.filter((entry) => typeof entry !== 'string'),
      [hosts[7]],
    );
  });

  it('are whole when they are small', () => {
    const sent = new SentHosts();
    const small = setOf(many(1, 20));
    sent.updateOf(small);
    assert.deepEqual(sent.updateOf(small), { op: 'put_hosts', hosts: small });
  });

  it('keep a host that says the same, and none that does not', () => {
    const plain = host(1, { metadata: { 'envoy.lb': { key: ['a', { b: 1 }] } } });
    assert.ok(isSameHost(plain, structuredClone(plain)));
    assert.ok(!isSameHost(plain, { ...plain, weight: 3 }));
    assert.ok(!isSameHost(plain, { ...plain, healthBits: 0 }));
    assert.ok(!isSameHost(plain, { ...plain, metadata: { 'envoy.lb': { key: ['a', {}] } } }));
    assert.ok(!isSameHost(plain, host(1)));
    assert.ok(!isSameHost(host(1), plain));
  });

  it('are made of the objects that stood for the same hosts before', () => {
    const before = many(1, 4);
    const copy = (hosts: readonly HostResource[]): readonly HostResource[] =>
      structuredClone(hosts);
    assert.equal(keepSameHosts(before, copy(before)), before);
    assert.deepEqual(keepSameHosts(before, copy(before).toReversed()), before.toReversed());
    const [first, second, third] = before;
    const changed = { ...host(2), weight: 9 };
    const after = keepSameHosts(before, [host(7), changed, ...copy(before.slice(0, 1))]);
    assert.equal(after[1], changed);
    assert.equal(after[2], first);
    assert.deepEqual(keepSameHosts(before, copy(before.slice(0, 3))), [first, second, third]);
  });
});

describe('work in slices', () => {
  const clock = new ManualClock();

  /** Each step takes half a millisecond. */
  function* steps(count: number, log: string[]): Steps {
    for (let step = 0; step < count; step++) {
      clock.pass(0.5);
      yield;
    }
    log.push(`${count} steps`);
  }

  it('leaves turns to others, and keeps its order', async () => {
    const work = new SlicedWork(new WorkerLoop(clock));
    const log: string[] = [];
    work.add(true, () => steps(8, log));
    work.add(true, () => steps(1, log));
    const { settled: end } = work;
    assert.ok(end !== undefined);
    void end.then(() => log.push('settled'));
    for (let turn = 1; !log.includes('settled') && turn < 100; turn++) {
      await setImmediate();
      log.push(`turn ${turn}`);
    }
    const turns = [1, 2, 3, 4].map((turn) => `turn ${turn}`);
    assert.deepEqual(log, [...turns, '8 steps', '1 steps', 'settled', 'turn 5']);
    assert.equal(work.settled, undefined);
  });

  it('ends with all before it when it must not wait', () => {
    const work = new SlicedWork(new WorkerLoop(clock));
    const log: string[] = [];
    work.add(true, () => steps(16, log));
    work.add(false, () => steps(1, log));
    assert.deepEqual(log, ['16 steps', '1 steps']);
  });

  it('is given up when it is closed', async () => {
    const work = new SlicedWork(new WorkerLoop(clock));
    const log: string[] = [];
    work.add(true, () => steps(0, log));
    const { settled: end } = work;
    work.close();
    await end;
    await setImmediate();
    assert.deepEqual(log, []);
  });

  it('sorts as Array.sort does, equals in their order', () => {
    for (const count of [0, 1, 255, 256, 257, 1000, 5000]) {
      const items = Array.from({ length: count }, (_, at) => ({ key: (at * 7919) % 101, at }));
      const expected = items.toSorted((left, right) => left.key - right.key);
      finish(sortInSteps(items, (left, right) => left.key - right.key));
      assert.deepEqual(items, expected);
    }
  });
});
