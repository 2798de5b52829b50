/**
 * Tables of hashes of any hosts, weights and keys, made one from another, are those of Envoy's
 * loops.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { xxHash64 } from '../../../workers/hash/xxhash64.ts';
import { finish } from '../../../workers/loop/sliced-work.ts';
import { countTurns, MaglevTurns } from '../../../workers/upstream/hashing/maglev-turns.ts';
import { MaglevBuilder } from '../../../workers/upstream/hashing/maglev-builder.ts';
import { RingBuilder } from '../../../workers/upstream/hashing/ring-builder.ts';
import { RingPlaces, sortPlaces } from '../../../workers/upstream/hashing/ring-places.ts';
import type { HashTable } from '../../../workers/upstream/hashing/table-plan.ts';
import { UpstreamHost } from '../../../workers/upstream/hosts/host.ts';
import { type WeighedHost, weighHosts } from '../../../workers/upstream/hosts/host-weights.ts';
import { ActiveRequests } from '../../../workers/upstream/hosts/active-requests.ts';
import { WorkerStatStore } from '../../../workers/stats/worker-stat-store.ts';
import { attackParameters, attackRandom, attackTurns } from '../../support/attack.ts';
import { host } from '../../support/parts/data-plane.ts';

const stats = new WorkerStatStore();
const active = new ActiveRequests();

interface Wish {
  /** Who it is. */
  readonly port: number;
  readonly weight: number;
  /** Hosts may share one. */
  readonly key: string;
}

const wishes = fc.uniqueArray(
  fc.record({
    port: fc.integer({ min: 1, max: 60 }),
    weight: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(1000, 70_000)),
    key: fc.constantFrom('', '', '', '', 'shared', 'Ünïcode'),
  }),
  { selector: ({ port }) => port, maxLength: 40 },
);

/** The same wish for a port is the same host from update to update. */
class Hosts {
  readonly #made = new Map<string, UpstreamHost>();

  of(list: readonly Wish[]): readonly WeighedHost[] {
    const hosts = list.map(({ port, weight, key }) => {
      const id = `${port} ${key}`;
      const metadata = { 'envoy.lb': { hash_key: key } };
      const resource = host(port, { weight, ...(key === '' ? {} : { metadata }) });
      const known = this.#made.get(id) ?? new UpstreamHost(resource, 'c', stats, active);
      known.resource = resource;
      this.#made.set(id, known);
      return known;
    });
    return weighHosts(hosts, false);
  }
}

function keyOf({ host: { metadata, address } }: WeighedHost): string {
  const key = metadata?.['envoy.lb']?.['hash_key'];
  return typeof key === 'string' ? Buffer.from(key).toString('latin1') : address;
}

const toBigInt = ({ high, low }: { readonly high: number; readonly low: number }): bigint =>
  (BigInt(high) << 32n) | BigInt(low);

/** As Envoy's loop has it. */
function naiveRing(hosts: readonly WeighedHost[], min: number, max: number): readonly string[] {
  const least = hosts.reduce((found, { weight }) => Math.min(found, weight), 1);
  const scale = Math.min(Math.ceil(least * min) / least, max);
  const places: (readonly [hash: bigint, rank: number])[] = [];
  let target = 0;
  for (const [rank, entry] of hosts.entries()) {
    target += scale * entry.weight;
    for (let at = 0; places.length < target; at++) {
      places.push([toBigInt(xxHash64(`${keyOf(entry)}_${at}`)), rank]);
    }
  }
  return places
    .toSorted((left, right) =>
      left[0] === right[0] ? left[1] - right[1] : left[0] < right[0] ? -1 : 1,
    )
    .map(([, rank]) => hosts[rank]?.host.id ?? '');
}

/** From the first place on. */
function contents(table: HashTable, size: number): readonly (string | undefined)[] {
  return Array.from({ length: size }, (_, at) => table.choose({ high: 0, low: 0 }, at)?.id);
}

/** As Envoy's loop has it. */
function naiveTurns(weights: readonly number[], count: number): readonly number[] {
  const most = Math.max(...weights);
  const targets = weights.map(() => 0);
  const order: number[] = [];
  for (let turn = 1; order.length < count; turn++) {
    for (let at = 0; at < weights.length && order.length < count; at++) {
      if (turn * (weights[at] ?? 0) < (targets[at] ?? 0)) continue;
      targets[at] = (targets[at] ?? 0) + most;
      order.push(at);
    }
  }
  return order;
}

describe('a ring of hashes', () => {
  it('has the places of a new one, whatever ring it is made from', () => {
    const property = fc.property(
      fc.array(wishes, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(1, 7, 64, 500),
      fc.constantFrom(500, 2000),
      (updates, minRingSize, maxRingSize) => {
        const hosts = new Hosts();
        const options = { minRingSize, maxRingSize, usesHostname: false } as const;
        const builder = new RingBuilder({ ...options, hashFunction: 'XX_HASH' });
        for (const update of updates) {
          const weighed = hosts.of(update);
          const expected = naiveRing(weighed, minRingSize, maxRingSize);
          const table = finish(finish(builder.plan(weighed)).build());
          assert.deepEqual(contents(table, expected.length), expected);
        }
      },
    );
    fc.assert(property, attackParameters(60, 20_000));
  });

  it('is sorted whatever its hashes are', () => {
    const random = attackRandom();
    for (const run of attackTurns(40, 4000)) {
      // Few different ones, so that many places share a hash, down to one.
      const different = 1 + Math.floor(random() * [1, 3, 1000, 2 ** 32][run % 4]!);
      const places = new RingPlaces(Math.floor(random() * 3000), 300);
      for (let at = 0; at < places.size; at++) {
        places.high[at] = Math.floor(random() * different) * Math.floor(2 ** 32 / different);
        places.low[at] = run % 3 === 0 ? 7 : Math.floor(random() * different);
        places.host[at] = Math.floor(random() * 300);
      }
      const items = (): readonly (readonly number[])[] =>
        [...places.high].map((high, at) => [high, places.low[at] ?? 0, places.host[at] ?? 0]);
      const expected = items().toSorted(
        (left, right) => left[0]! - right[0]! || left[1]! - right[1]! || left[2]! - right[2]!,
      );
      finish(sortPlaces(places));
      assert.deepEqual(items(), expected);
    }
  });
});

describe('Maglev’s table', () => {
  it('gives turns to weights as Envoy’s loop does', () => {
    const weight = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 100_000 }));
    const property = fc.property(fc.array(weight, { minLength: 1, maxLength: 20 }), (given) => {
      const total = given.reduce((sum, each) => sum + each, 0);
      const weights = given.map((each) => each / total);
      const turns = new MaglevTurns(weights);
      const expected = naiveTurns(weights, 300);
      assert.deepEqual(
        Array.from(expected, () => turns.take()),
        expected,
      );
    });
    fc.assert(property, attackParameters(200, 50_000));
  });

  it('costs what its places are, not times the hosts, where one is much heavier', () => {
    const weights = Array.from({ length: 50_000 }, (_, at) => (at === 77 ? 1 : 1e-9));
    let steps = 0;
    for (const counting = countTurns(weights, 200_003); counting.next().done !== true;) steps++;
    assert.ok(steps < 300, String(steps));
  });

  it('is filled for hosts that share a key as for any', () => {
    const builder = new MaglevBuilder(1009, false);
    const list = Array.from({ length: 100 }, (_, at) => ({ port: at + 1, weight: 1, key: 'same' }));
    const plan = finish(builder.plan(new Hosts().of(list)));
    const table = finish(plan.build());
    const counts = new Map<string | undefined, number>();
    for (let low = 0; low < 1009; low++) {
      const id = table.choose({ high: 0, low }, 0)?.id;
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    assert.equal(counts.size, 100);
    assert.deepEqual(new Set(counts.values()), new Set([10, 11]));
  });
});
