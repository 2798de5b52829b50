import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { setImmediate } from 'node:timers/promises';
import type { HostResource } from '../../../../shared/resources/clusters/cluster.ts';
import {
  joinHosts,
  splitHosts,
  weightOf,
} from '../../../../shared/resources/clusters/host-parts.ts';
import { countHosts, packAllHosts } from '../../../../shared/resources/clusters/host-entries.ts';
import type { ResourceUpdate } from '../../../../shared/resources/resource-update.ts';
import { isSameHost, keepSameHosts } from '../../../../supervisor/upstreams/sources/same-host.ts';
import {
  finish,
  SlicedWork,
  sortInSteps,
  type Steps,
} from '../../../../workers/loop/sliced-work.ts';
import { WorkerLoop } from '../../../../workers/loop/worker-loop.ts';
import { host } from '../../../support/parts/data-plane.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { COUNT, many, setOf, sender, unpacked } from './many-hosts.ts';

describe('host sets on their way to workers', () => {
  it('come out of their parts as they were', () => {
    const updates: readonly ResourceUpdate[] = [
      { op: 'put_hosts', hosts: setOf(many(1, 3)) },
      { op: 'put_hosts', hosts: setOf(many(1)) },
      { op: 'remove_cluster', name: 'other' },
      { op: 'put_hosts', hosts: { ...setOf([]), hosts: packAllHosts(many(1, 30_000)) } },
    ];
    const parts = splitHosts(updates);
    assert.ok(parts.length > updates.length);
    for (const part of parts) {
      if (part.op === 'put_hosts') assert.ok(weightOf(part.hosts.hosts) <= 272);
    }
    assert.deepEqual(joinHosts(parts), updates);
  });

  it('carry what is new and the places of the rest in the set before', () => {
    const { sent, version, send } = sender();
    const hosts = [...many(1)];
    const first = send(hosts);
    assert.equal(first.base, undefined);
    assert.deepEqual(unpacked(first.hosts, []), hosts);
    const next = [...hosts.slice(0, 7), { ...host(8), weight: 2 }, ...hosts.slice(8), host(9998)];
    const second = send(next);
    assert.equal(second.base, first.revision);
    assert.deepEqual(second.hosts, [
      { from: 0, count: 7 },
      next[7],
      { from: 8, count: COUNT - 8 },
      host(9998),
    ]);
    sent.forget(version);
    assert.equal(send(next).base, undefined);
  });

  it('come out as they were, however they changed', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(2), fc.nat(3999), fc.nat(600))), (changes) => {
        const { send } = sender();
        let now: readonly HostResource[] = many(1);
        let atWorker: readonly HostResource[] = [];
        let made = 10_000;
        for (const [kind, at, count] of [[0, 0, 0] as const, ...changes]) {
          const fresh = kind === 0 ? [] : many(made, count);
          made += fresh.length;
          const moved = kind === 2 ? now.slice(at, at + count).toReversed() : [];
          now = [...now.slice(0, at), ...fresh, ...moved, ...now.slice(at + count)];
          const update = send(now);
          atWorker = unpacked(update.hosts, atWorker);
          assert.deepEqual(atWorker, now);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('tell of what a worker was told otherwise only when it changes again', () => {
    const { sent, version, send } = sender();
    const hosts = [...many(1)];
    send(hosts);
    const failed = { ...host(5), healthBits: 1, health: 'unhealthy' as const };
    hosts[4] = failed;
    sent.note(version, 4, failed);
    assert.deepEqual(send(hosts).hosts, [{ from: 0, count: COUNT }]);
  });

  it('are packed without loss where hosts differ by more than their address', () => {
    const ip = (id: string, address: string): HostResource =>
      host(80, { id, address: { kind: 'ip', address, port: 80 } });
    const hosts = [
      ...many(1, 3),
      ip('[::1]:80', '::1'),
      ip('name:80', '10.0.0.1'),
      host(4, { weight: 3 }),
      host(5, { metadata: { 'envoy.lb': { a: 1 } } }),
      host(6, { moreAddresses: ['127.0.0.2'] }),
      host(7, { outlierSlot: 4 }),
      host(8, { id: '/a b', address: { kind: 'pipe', path: '/a b' } }),
    ];
    const packed = packAllHosts(hosts);
    assert.equal(packed.length, 7);
    assert.equal(countHosts(packed), hosts.length);
    assert.deepEqual(unpacked(packed, []), hosts);
  });

  it('are whole when they are small', () => {
    const { send } = sender();
    const small = many(1, 20);
    send(small);
    assert.deepEqual(send(small), setOf(small));
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

  it('are made of the objects that stood for the same hosts in their places', () => {
    const before = many(1, 4);
    const copy = (hosts: readonly HostResource[]): readonly HostResource[] =>
      structuredClone(hosts);
    assert.equal(keepSameHosts(before, copy(before)), before);
    const changed = { ...host(2), weight: 9 };
    const after = keepSameHosts(before, [...copy(before.slice(0, 1)), changed, host(7)]);
    assert.equal(after[0], before[0]);
    assert.deepEqual(after, [before[0], changed, host(7)]);
    assert.deepEqual(keepSameHosts(before, copy(before.slice(0, 3))), before.slice(0, 3));
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
    work.add('later', () => steps(8, log));
    work.add('later', () => steps(1, log));
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
    work.add('later', () => steps(16, log));
    work.add('now', () => steps(1, log));
    assert.deepEqual(log, ['16 steps', '1 steps']);
  });

  it('is given up when it is closed', async () => {
    const work = new SlicedWork(new WorkerLoop(clock));
    const log: string[] = [];
    work.add('later', () => steps(0, log));
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
