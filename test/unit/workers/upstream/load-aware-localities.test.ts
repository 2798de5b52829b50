import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CLUSTER } from '../../../../shared/stats/templates/cluster.ts';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { ActiveRequests } from '../../../../workers/upstream/hosts/active-requests.ts';
import {
  type LocalityLoad,
  shareByHeadroom,
} from '../../../../workers/upstream/load-reports/headroom.ts';
import { UpstreamHost } from '../../../../workers/upstream/hosts/host.ts';
import { ReportedUse } from '../../../../workers/upstream/balancing/load-aware-localities.ts';
import { updateBalancer } from '../../../../workers/upstream/balancing/load-balancer.ts';
import { makeBalancer } from '../../../../workers/upstream/balancing/lb-policies.ts';
import { balancerContext } from '../../../support/parts/balancers.ts';
import { host } from '../../../support/parts/data-plane.ts';

const OPTIONS = { varianceThreshold: 0.1, probeFraction: 0.03 };
const PICKS = 100_000;
/** Below it lie 99.99 % of all values with three degrees of freedom. */
const CHI_SQUARED_LIMIT_3 = 21.1;

function load(utilization: number, hosts = 10, isStale = false): LocalityLoad {
  return { isOwn: false, hosts, utilization, isStale };
}

function own(utilization: number, hosts = 10): LocalityLoad {
  return { ...load(utilization, hosts), isOwn: true };
}

describe('shares of localities by headroom', () => {
  type Case = readonly [string, readonly LocalityLoad[], readonly number[]];
  // The first is the example of Envoy's documentation.
  const cases: readonly Case[] = [
    ['what is left of each', [own(0.7), load(0.3), load(0.4)], [3, 7, 6]],
    [
      'nearly all for the own one while it is hardly busier',
      [own(0.4), load(0.31)],
      [12.513, 0.387],
    ],
    [
      'the part of others by their hosts',
      [own(0.1, 2), load(0.5, 1), load(0, 3)],
      [5.141, 0.03975, 0.11925],
    ],
    ['hosts alone without anything left', [own(1.2, 4), load(1, 2)], [4, 2]],
    ['hosts alone of those without reports', [own(0.8), load(0.5, 3, true)], [2, 3]],
    ['what is left where there is none of its own', [load(0.5), load(0.25)], [5, 7.5]],
    ['all for the only one', [own(0.9)], [1]],
    ['none for an own one without hosts', [own(0, 0), load(0.5, 2)], [0, 1]],
  ];
  for (const [title, loads, wanted] of cases) {
    it(`are ${title}`, () => {
      const { weights } = shareByHeadroom(loads, OPTIONS);
      for (const [at, weight] of wanted.entries()) {
        assert.ok(Math.abs((weights[at] ?? -1) - weight) < 1e-9, weights.join(', '));
      }
    });
  }
});

describe('choices by how busy localities are', () => {
  const lbPolicy = {
    kind: 'load_aware_locality',
    child: { kind: 'round_robin' },
    options: {
      updateMs: 1000,
      smoothingMs: 1,
      expirationMs: 5000,
      metricNames: [],
      ...OPTIONS,
    },
  } as const;
  const request = {
    requestHeaders: new HeaderMap(),
    computeHash: () => undefined,
    maxHostDraws: 0,
    refusesHost: () => false,
  };

  function start() {
    const clock = { ms: 0 };
    const counted = new Map<string, number>();
    const note = (name: string, change = 1): void =>
      void counted.set(name, (counted.get(name) ?? 0) + change);
    const names = Object.keys(CLUSTER.index);
    const noteOffset = (offset: number, change = 1): void => note(names[offset] ?? '', change);
    const balancer = makeBalancer(
      lbPolicy,
      balancerContext({
        nowMs: () => clock.ms,
        ownLocality: { region: '', zone: 'a', subZone: '' },
        count: noteOffset,
        countStructure: noteOffset,
        countLoadAware: note,
      }),
    );
    const stats = new WorkerStatStore();
    const active = new ActiveRequests();
    const hosts = ['a', 'a', 'b', 'b'].map((zone, at) => {
      const made = new UpstreamHost(host(at + 1, { zone }), 'c', stats, active);
      made.reportedUse = new ReportedUse([]);
      return made;
    });
    updateBalancer(balancer, hosts, 140);
    const report = (utilizations: readonly number[]): void => {
      for (const [at, utilization] of utilizations.entries()) {
        hosts[at]?.reportedUse?.note(new Map([['cpu_utilization', utilization]]), clock.ms);
      }
    };
    const chiSquared = (shares: readonly number[]): number => {
      const counts = new Map<UpstreamHost | undefined, number>();
      for (let pick = 0; pick < PICKS; pick++) {
        const chosen = balancer.choose(request, 0);
        counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
      }
      return shares.reduce((sum, share, at) => {
        const expected = PICKS * share;
        return sum + ((counts.get(hosts[at]) ?? 0) - expected) ** 2 / expected;
      }, 0);
    };
    return { clock, counted, report, chiSquared };
  }

  it('stay here but for a few until a report says otherwise, and follow it a period later', () => {
    const { clock, counted, report, chiSquared } = start();
    assert.ok(chiSquared([0.485, 0.485, 0.015, 0.015]) < CHI_SQUARED_LIMIT_3);
    report([0.8, 0.8, 0.2, 0.2]);
    clock.ms = 1000;
    assert.ok(chiSquared([0.1, 0.1, 0.4, 0.4]) < CHI_SQUARED_LIMIT_3);
    assert.equal(counted.get('recompute_total'), 2);
    assert.equal(counted.get('local_preferred_total'), 1);
    assert.equal(counted.get('spill_active_total'), 1);
    const routed = ['sampled', 'cross_zone'].map(
      (how) => counted.get(`lb_zone_routing_${how}`) ?? 0,
    );
    assert.equal((routed[0] ?? 0) + (routed[1] ?? 0), 2 * PICKS);
    assert.equal(counted.get('lb_recalculate_zone_structures'), 2);
  });

  it('go by the number of hosts once reports are old, for as many periods as passed', () => {
    const { clock, counted, report, chiSquared } = start();
    report([0.8, 0.8, 0.2, 0.2]);
    clock.ms = 1000;
    chiSquared([1, 1, 1, 1]);
    clock.ms = 9500;
    assert.ok(chiSquared([0.25, 0.25, 0.25, 0.25]) < CHI_SQUARED_LIMIT_3);
    assert.equal(counted.get('recompute_total'), 10);
    assert.equal(counted.get('stale_locality_total'), 16);
  });
});
