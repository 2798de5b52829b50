import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  ClusterResource,
  HostResource,
} from '../../../../shared/resources/clusters/cluster.ts';
import { HEALTH_BITS } from '../../../../shared/resources/clusters/host-health.ts';
import type {
  NestedPolicy,
  ZoneAwareOptions,
} from '../../../../shared/resources/clusters/lb-policy.ts';
import { CLUSTER } from '../../../../shared/stats/templates/cluster.ts';
import { MersenneTwister } from '../../../../workers/hash/mersenne-twister.ts';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { ActiveRequests } from '../../../../workers/upstream/hosts/active-requests.ts';
import { UpstreamHost } from '../../../../workers/upstream/hosts/host.ts';
import {
  updateBalancer,
  type LoadBalancer,
} from '../../../../workers/upstream/balancing/load-balancer.ts';
import type { BalancerContext } from '../../../../workers/upstream/balancing/balancer-context.ts';
import { makeBalancer } from '../../../../workers/upstream/balancing/lb-policies.ts';
import { mayBeNamed } from '../../../../workers/upstream/balancing/override-status.ts';
import { balancerContext } from '../../../support/parts/balancers.ts';
import { host } from '../../../support/parts/data-plane.ts';

const PICKS = 100_000;
/** Below it lie 99.99 % of all values with so many degrees of freedom. */
const CHI_SQUARED_LIMIT: Readonly<Record<number, number>> = { 3: 21.1, 9: 33.7 };

const EXCLUDING = [
  'excluded_via_immediate_hc_fail',
  'pending_active_hc',
  'eds_status_draining',
] as const;

const stats = new WorkerStatStore();
const active = new ActiveRequests();

function hosts(facts: readonly Partial<HostResource>[]): readonly UpstreamHost[] {
  return facts.map((each, at) => new UpstreamHost(host(at + 1, each), 'c', stats, active));
}

function balancer(
  policy: NestedPolicy,
  of: readonly UpstreamHost[],
  context: Partial<BalancerContext> = {},
): LoadBalancer {
  const made = makeBalancer(policy, balancerContext(context));
  updateBalancer(made, of, 140);
  return made;
}

function tally(from: LoadBalancer, picks = PICKS, headers = new HeaderMap()): number[] {
  const context = {
    requestHeaders: headers,
    computeHash: () => undefined,
    maxHostDraws: 0,
    refusesHost: () => false,
  };
  const counts: number[] = [];
  for (let pick = 0; pick < picks; pick++) {
    const port = from.choose(context, 0)?.port ?? 0;
    counts[port] = (counts[port] ?? 0) + 1;
  }
  return Array.from({ length: counts.length }, (_, port) => counts[port] ?? 0);
}

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

describe('zone-aware choices', () => {
  const ownLocality = { region: '', zone: 'a', subZone: '' };
  const OPTIONS = { routingEnabled: 100, minClusterSize: 4 };
  type Places = readonly (string | Partial<HostResource>)[];
  const placed = (places: Places): readonly UpstreamHost[] =>
    hosts(places.map((place) => (typeof place === 'string' ? { zone: place } : place)));

  function shares(servers: Places, places: Places, zoneAware: ZoneAwareOptions | null = OPTIONS) {
    const counts: Record<string, number> = {};
    const names = Object.entries(CLUSTER.index);
    const note = (offset: number): void => {
      const [name = ''] = names.find(([, at]) => at === offset) ?? [];
      counts[name] = (counts[name] ?? 0) + 1;
    };
    const of = placed(servers);
    const usable = of.filter(({ health }) => health === 'healthy').length;
    const local = { hosts: of, version: 1, health: () => ({ total: of.length, usable }) };
    const policy = {
      kind: 'round_robin',
      ...(zoneAware === null
        ? {}
        : { localities: { kind: 'zone_aware' as const, options: zoneAware } }),
    } as const;
    const chosen = placed(places);
    const from = balancer(policy, chosen, {
      ownLocality,
      localCluster: () => local,
      count: note,
      countStructure: note,
    });
    const picks = 20_000;
    const own = tally(from, picks).reduce(
      (sum, count, port) => sum + (chosen[port - 1]?.zone === 'a' ? count : 0),
      0,
    );
    return { own: own / picks, counts };
  }

  it('stay in the zone while it has its share of the hosts', () => {
    const { own, counts } = shares(['a', 'b'], ['a', 'a', 'b', 'b']);
    assert.equal(own, 1);
    assert.equal(counts['lb_zone_routing_all_directly'], 20_000);
    assert.equal(counts['lb_recalculate_zone_structures'], 1);
  });

  it('leave the zone for what is too much for its hosts', () => {
    const { own, counts } = shares(['a', 'b'], ['a', 'b', 'b', 'b']);
    assert.ok(Math.abs(own - 0.5) < 0.02, `${own}`);
    assert.equal(
      (counts['lb_zone_routing_sampled'] ?? 0) + (counts['lb_zone_routing_cross_zone'] ?? 0),
      20_000,
    );
  });

  it('do not look at zones in a small cluster, or when the local cluster is sick', () => {
    const sickServers = Array.from(
      { length: 3 },
      () => ({ zone: 'b', health: 'unhealthy' }) as const,
    );
    const small = shares(['a', 'b'], ['a', 'b', 'b']);
    assert.ok(Math.abs(small.own - 1 / 3) < 0.01);
    assert.equal(small.counts['lb_zone_cluster_too_small'], 1);
    const sick = shares(['a', ...sickServers], ['a', 'b', 'b', 'b']);
    assert.ok(Math.abs(sick.own - 1 / 4) < 0.01);
    assert.equal(sick.counts['lb_local_cluster_not_ok'], 20_000);
  });

  it('are made of clusters that say nothing of zones, from six hosts on', () => {
    assert.equal(shares(['a', 'b'], ['a', 'a', 'a', 'b', 'b', 'b'], null).own, 1);
    assert.ok(shares(['a', 'b'], ['a', 'a', 'a', 'b', 'b'], null).own < 0.7);
  });

  it('stay in a zone that has the hosts that are demanded of it, with one zone of servers too', () => {
    const forced = (forceLocalZoneMinSize: number, servers = ['a', 'b']): number =>
      shares(servers, ['a', 'b', 'b', 'b'], { ...OPTIONS, forceLocalZoneMinSize }).own;
    assert.equal(forced(1), 1);
    assert.ok(forced(2) < 0.6);
    assert.equal(forced(1, ['a']), 1);
  });

  it('go by the weights of hosts where they are to', () => {
    const uneven = [
      { zone: 'a' },
      { zone: 'a' },
      { zone: 'b', weight: 3 },
      { zone: 'b', weight: 3 },
    ];
    assert.equal(shares(['a', 'b'], uneven).own, 1);
    const { own } = shares(['a', 'b'], uneven, { ...OPTIONS, countsWeights: true });
    assert.ok(Math.abs(own - 0.5) < 0.02, `${own}`);
  });
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
