import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MurmurHash2 } from '../../../../../workers/hash/murmur-hash2.ts';
import { type Hash64, xxHash64 } from '../../../../../workers/hash/xxhash64.ts';
import { HeaderMap } from '../../../../../workers/stream/header-map.ts';
import { compileHashPolicies } from '../../../../../workers/routing/hash-policy.ts';
import { HashBalancer } from '../../../../../workers/upstream/hashing/hash-balancer.ts';
import { MaglevBuilder } from '../../../../../workers/upstream/hashing/maglev-builder.ts';
import type { WeighedHost } from '../../../../../workers/upstream/hosts/host-weights.ts';
import { finish } from '../../../../../workers/loop/sliced-work.ts';
import type { UpstreamHost } from '../../../../../workers/upstream/hosts/host.ts';
import { updateBalancer } from '../../../../../workers/upstream/balancing/load-balancer.ts';
import { streamInfo } from '../../../../support/parts/stream.ts';
import { FilterState } from '../../../../../workers/net/filter-state.ts';
import { hosts, balancer, choose } from './hashed-hosts.ts';

/** The same request goes to the same host behind Sluice and behind Envoy. */

function digitOf(chosen: UpstreamHost | undefined): string {
  return chosen === undefined ? '-' : String(Number(chosen.ip.slice(-1)) - 2);
}

const RING = {
  minRingSize: 1024,
  maxRingSize: 8_388_608,
  hashFunction: 'XX_HASH',
  usesHostname: false,
} as const;

describe('hashes', () => {
  const hex = ({ high, low }: Hash64): string =>
    [high, low].map((half) => half.toString(16).padStart(8, '0')).join('');

  it('are those of xxHash64', () => {
    assert.equal(hex(xxHash64('')), 'ef46db3751d8e999');
    assert.equal(hex(xxHash64('a')), 'd24ec4f1a98c6e5b');
    assert.equal(hex(xxHash64('abc')), '44bc2cf5ad770999');
  });

  it('of MurmurHash2 use every byte', () => {
    const murmur = new MurmurHash2();
    const all = ['', 'a', 'ab', '12345678', '123456789'].map((text) => {
      murmur.hash(Buffer.from(text), text.length);
      return hex({ high: murmur.state.high >>> 0, low: murmur.state.low >>> 0 });
    });
    assert.equal(new Set(all).size, 5);
  });

  it('of a header use only what its rewrite leaves, of a terminal policy nothing behind it', () => {
    const hashOf = compileHashPolicies([
      { kind: 'header', name: 'a', terminal: true },
      { kind: 'header', name: 'b', terminal: false },
    ]);
    const headers = new HeaderMap();
    headers.add('b', 'x');
    const info = streamInfo(headers);
    assert.deepEqual(
      hashOf?.(headers, info, () => undefined),
      xxHash64('x'),
    );
    headers.add('a', 'y');
    assert.deepEqual(
      hashOf?.(headers, info, () => undefined),
      xxHash64('y'),
    );
  });

  it('of a header with several values are chained in the order of the values', () => {
    const hashOf = compileHashPolicies([{ kind: 'header', name: 'a', terminal: false }]);
    const headers = new HeaderMap();
    for (const value of ['y', 'x']) headers.add('a', value);
    const hash = hashOf?.(headers, streamInfo(headers), () => undefined);
    assert.deepEqual(hash, xxHash64('y', xxHash64('x')));
  });

  it('of filter state know only objects that can be hashed', () => {
    const hashOf = compileHashPolicies([{ kind: 'filter_state', key: 'k', terminal: false }]);
    const headers = new HeaderMap();
    const info = streamInfo(headers);
    info.filterState = new FilterState();
    info.filterState.keep('k', 'v', false);
    assert.equal(
      hashOf?.(headers, info, () => undefined),
      undefined,
    );
    info.filterState.keep('k', 'v', true);
    assert.deepEqual(
      hashOf?.(headers, info, () => undefined),
      xxHash64('v'),
    );
  });

  it('of a cookie that is missing make one where a lifetime is configured', () => {
    const attributes = [{ name: 'SameSite', value: 'Lax' }];
    const hashOf = compileHashPolicies([
      { kind: 'cookie', name: 'sid', ttlMs: 60_000, path: '/p', attributes, terminal: false },
    ]);
    const headers = new HeaderMap();
    const made: string[] = [];
    const hash = hashOf?.(headers, streamInfo(headers), (setCookie) => made.push(setCookie));
    const [, value = ''] =
      /^sid="([0-9a-f]{16})"; Max-Age=60; Path=\/p; SameSite=Lax; HttpOnly$/.exec(made[0] ?? '') ??
      [];
    assert.deepEqual(hash, xxHash64(value));
    headers.add('cookie', `sid=${value}`);
    assert.deepEqual(
      hashOf?.(headers, streamInfo(headers), () => assert.fail()),
      hash,
    );
  });
});

describe('tables of hashes', () => {
  it('have no hosts of localities without a weight, be it all of them', () => {
    for (const [weight, expected] of [
      [undefined, undefined],
      [1, '127.0.0.2:9'],
    ] as const) {
      const from = balancer({ kind: 'ring_hash', options: RING, localities: { kind: 'weighted' } });
      const [first] = hosts([1]);
      assert.ok(first !== undefined);
      first.resource = {
        ...first.resource,
        ...(weight === undefined ? {} : { localityWeight: 1 }),
      };
      updateBalancer(from, [first], 140);
      assert.equal(choose(from, { high: 0, low: 0 })?.id, expected);
    }
  });

  const weighed = (weights: readonly number[]): readonly WeighedHost[] =>
    hosts(weights).map((each) => ({
      host: each,
      weight: each.weight / weights.reduce((sum, weight) => sum + weight, 0),
    }));

  for (const weights of [[1], [1, 1, 1], [1, 2, 3, 5, 9], [7, 1, 1, 1, 1, 1, 64]]) {
    it(`of Maglev say before they are built what each host gets of weights ${weights.join()}`, () => {
      const size = 1009;
      const plan = finish(new MaglevBuilder(size, false).plan(weighed(weights)));
      const table = finish(plan.build());
      const counts = new Map<UpstreamHost | undefined, number>();
      for (let low = 0; low < size; low++) {
        const chosen = table.choose({ high: 0, low }, 0);
        counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
      }
      const isSingle = weights.length === 1;
      assert.equal(counts.size, weights.length);
      assert.deepEqual(plan.figures, {
        size,
        minPerHost: isSingle ? 1 : Math.min(...counts.values()),
        maxPerHost: isSingle ? 1 : Math.max(...counts.values()),
      });
    });
  }

  it('are built with the first request, and from then on when hosts change', () => {
    const told: number[] = [];
    const built: number[] = [];
    const from = new HashBalancer({
      panicThreshold: () => 50,
      weighsLocalities: false,
      hashOf: undefined,
      random: () => 0,
      onTable: ({ size }) => told.push(size),
      *planTable(of) {
        yield;
        const plan = { figures: { size: of.length, minPerHost: 1, maxPerHost: 1 }, isQuick: true };
        return {
          ...plan,
          *build() {
            built.push(of.length);
            yield;
            return { choose: () => of[0]?.host };
          },
        };
      },
    });
    updateBalancer(from, hosts([1, 1]), 140);
    updateBalancer(from, hosts([1, 1, 1]), 140);
    assert.deepEqual([told, built], [[2, 3], []]);
    for (let request = 0; request < 3; request++) {
      assert.equal(digitOf(choose(from, { high: 0, low: 0 })), '0');
    }
    assert.deepEqual(built, [3]);
    updateBalancer(from, hosts([1]), 140);
    assert.deepEqual(
      [told, built],
      [
        [2, 3, 1],
        [3, 1],
      ],
    );
  });
});
