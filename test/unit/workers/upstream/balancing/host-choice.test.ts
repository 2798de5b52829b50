import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  ClusterResource,
  HostResource,
} from '../../../../../shared/resources/clusters/cluster.ts';
import { HEALTH_BITS } from '../../../../../shared/resources/clusters/host-health.ts';
import { MersenneTwister } from '../../../../../workers/hash/mersenne-twister.ts';
import { HeaderMap } from '../../../../../workers/stream/header-map.ts';
import { mayBeNamed } from '../../../../../workers/upstream/balancing/override-status.ts';
import { host } from '../../../../support/parts/data-plane.ts';
import { PICKS, hosts, balancer, tally } from './tallied-hosts.ts';

/** Below it lie 99.99 % of all values with so many degrees of freedom. */
const CHI_SQUARED_LIMIT: Readonly<Record<number, number>> = { 3: 21.1, 9: 33.7 };

const EXCLUDING = [
  'excluded_via_immediate_hc_fail',
  'pending_active_hc',
  'eds_status_draining',
] as const;

function chiSquared(counts: readonly number[], shares: readonly number[]): number {
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.reduce((sum, share, at) => {
    const expected = (PICKS * share) / total;
    return sum + ((counts[at + 1] ?? 0) - expected) ** 2 / expected;
  }, 0);
}

describe('hosts that are excluded', () => {
  it('are not what the others are seen against, and are asked in panic', () => {
    for (const flag of EXCLUDING) {
      const excluded: Partial<HostResource> = {
        health: 'unhealthy',
        healthBits: HEALTH_BITS.failed_active_hc | HEALTH_BITS[flag],
      };
      const kept = balancer({ kind: 'round_robin' }, hosts([{}, excluded, excluded, excluded]));
      assert.deepEqual(tally(kept, 8), [0, 8], flag);
      const panicking = balancer({ kind: 'round_robin' }, hosts([excluded, excluded]));
      assert.deepEqual(tally(panicking, 8), [0, 4, 4], flag);
      const weighed = balancer(
        { kind: 'round_robin', localities: { kind: 'weighted' } },
        hosts([
          { zone: 'a', localityWeight: 1 },
          { zone: 'a', localityWeight: 1, ...excluded },
          { zone: 'b', localityWeight: 1 },
        ]),
      );
      assert.deepEqual(tally(weighed, 8), [0, 4, 0, 4], flag);
    }
  });
});

describe('hosts that filters name', () => {
  it('are taken while they are of a status that may be', () => {
    const facts: readonly Partial<HostResource>[] = [
      {},
      { health: 'unhealthy', configuredHealth: 'DRAINING' },
      { health: 'unhealthy', healthBits: HEALTH_BITS.failed_outlier_check },
      { health: 'degraded', healthBits: HEALTH_BITS.degraded_active_hc },
    ];
    const taken = (statuses?: ClusterResource['namedHostStatuses']): readonly boolean[] =>
      facts.map((each) => mayBeNamed(host(1, each), statuses));
    assert.deepEqual(taken(), [true, false, false, true]);
    assert.deepEqual(taken(['DRAINING', 'UNHEALTHY']), [false, true, true, false]);
  });
});

describe('the distribution of choices', () => {
  const even = Array.from({ length: 10 }, () => 1);
  const uneven = [1, 2, 3, 10];
  const cases = [
    ['round_robin', even, even],
    ['round_robin', uneven, uneven],
    ['least_request', even, even],
    ['least_request', uneven, uneven],
    ['random', even, even],
    ['random', uneven, [1, 1, 1, 1]],
  ] as const;
  for (const [kind, weights, shares] of cases) {
    it(`of ${kind} is that of the weights ${weights.join(', ')}`, () => {
      const from = balancer({ kind }, hosts(weights.map((weight) => ({ weight }))));
      const limit = CHI_SQUARED_LIMIT[shares.length - 1] ?? 0;
      assert.ok(chiSquared(tally(from), shares) < limit);
    });
  }

  it('of localities is that of their weights', () => {
    const of = hosts([
      { zone: 'a', localityWeight: 1 },
      { zone: 'b', localityWeight: 3 },
      { zone: 'b', localityWeight: 3 },
    ]);
    const counts = tally(
      balancer({ kind: 'random', localities: { kind: 'weighted' } }, of),
      40_000,
    );
    assert.equal(counts[1], 10_000);
  });
});

describe('slow start', () => {
  const slowStart = { windowMs: 10_000, aggression: 1, minWeightPercent: 10 };
  for (const kind of ['round_robin', 'least_request'] as const) {
    it(`gives a new host of ${kind} a share that grows with time`, () => {
      let nowMs = 100_000;
      const of = hosts([{ readySinceMs: 1 }, { readySinceMs: 100_000 }]);
      const from = balancer({ kind, slowStart }, of, { nowMs: () => nowMs });
      const share = (): number => (tally(from, 11_000)[2] ?? 0) / 11_000;
      assert.ok(Math.abs(share() - 0.1 / 1.1) < 0.01, 'a tenth of its weight at first');
      nowMs += 5_000;
      tally(from, 100);
      assert.ok(Math.abs(share() - 0.5 / 1.5) < 0.01, 'half of it after half of the window');
      nowMs += 6_000;
      tally(from, 100);
      assert.ok(Math.abs(share() - 0.5) < 0.02, 'all of it in the end');
    });
  }
});

describe('bounded load', () => {
  it('leaves a host that is too busy for others, the same ones each time', () => {
    const of = hosts([{}, {}, {}, {}]);
    const from = balancer({ kind: 'ring_hash', balanceFactor: 120 }, of, {
      allActiveRequests: () => 8,
    });
    const hash = { high: 1, low: 2 };
    const context = {
      requestHeaders: new HeaderMap(),
      computeHash: () => hash,
      maxHostDraws: 0,
      refusesHost: () => false,
    };
    const first = from.choose(context, 0);
    assert.ok(first !== undefined);
    for (let open = 0; open < 8; open++) first.requestBegan();
    const second = from.choose(context, 0);
    assert.notEqual(second, first);
    assert.equal(from.choose(context, 0), second);
    for (let open = 0; open < 8; open++) first.requestEnded();
    assert.equal(from.choose(context, 0), first);
  });

  it('draws the numbers that MT19937 gives for a seed', () => {
    const random = new MersenneTwister(5489);
    assert.equal(random.next(), 3_499_211_612);
    for (let count = 2; count < 10_000; count++) random.next();
    assert.equal(random.next(), 4_123_659_995);
  });
});

describe('priorities that were tried before', () => {
  for (const kind of ['round_robin', 'ring_hash'] as const) {
    it(`are left out by ${kind} while others can take the request`, () => {
      const from = balancer({ kind }, hosts([{ priority: 0 }, { priority: 1 }]));
      const chosen = (...tried: readonly number[]): number | undefined =>
        from.choose(
          {
            requestHeaders: new HeaderMap(),
            computeHash: () => ({ high: 1, low: 2 }),
            maxHostDraws: 0,
            refusesHost: () => false,
            excludedPriorities: new Set(tried),
          },
          0,
        )?.port;
      assert.equal(chosen(), 1);
      assert.equal(chosen(0), 2);
      assert.equal(chosen(0, 1), 1);
    });
  }
});
