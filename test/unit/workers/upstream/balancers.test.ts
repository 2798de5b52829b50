import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostResource } from '../../../../shared/resources/clusters/cluster.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { ActiveRequests } from '../../../../workers/upstream/hosts/active-requests.ts';
import { UpstreamHost } from '../../../../workers/upstream/hosts/host.ts';
import { LeastRequestPicker } from '../../../../workers/upstream/balancing/least-request-picker.ts';
import { PriorityBalancer } from '../../../../workers/upstream/balancing/priority-balancer.ts';
import { RoundRobinPicker } from '../../../../workers/upstream/balancing/round-robin-picker.ts';
import { RandomPicker } from '../../../../workers/upstream/balancing/random-picker.ts';
import { updateBalancer } from '../../../../workers/upstream/balancing/load-balancer.ts';
import { host as hostResource } from '../../../support/parts/data-plane.ts';

function host(port: number, facts: Partial<HostResource> = {}): UpstreamHost {
  return new UpstreamHost(hostResource(port, facts), 'c', new WorkerStatStore(), active);
}

const active = new ActiveRequests();

/** The same numbers each time, evenly spread. */
function evenNumbers(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function count(choose: () => UpstreamHost | undefined, picks: number): Map<number, number> {
  const counts = new Map<number, number>();
  for (let pick = 0; pick < picks; pick++) {
    const port = choose()?.port ?? 0;
    counts.set(port, (counts.get(port) ?? 0) + 1);
  }
  return counts;
}

function randomBalancer(hosts: readonly UpstreamHost[]): PriorityBalancer {
  const random = evenNumbers();
  const makePicker = (usable: readonly UpstreamHost[]) => new RandomPicker(usable, random);
  const balancer = new PriorityBalancer({
    panicThreshold: () => 50,
    makePicker,
    random,
    weighsLocalities: false,
  });
  updateBalancer(balancer, hosts, 140);
  return balancer;
}

describe('the random balancer', () => {
  it('gives every usable host the same share, whatever its weight', () => {
    const balancer = randomBalancer([
      host(1),
      host(2, { weight: 9 }),
      host(3, { health: 'unhealthy' }),
      host(4),
    ]);
    const counts = count(() => balancer.choose(), 30_000);
    assert.deepEqual(
      [...counts.keys()].sort((a, b) => a - b),
      [1, 2, 4],
    );
    for (const picks of counts.values()) assert.ok(Math.abs(picks - 10_000) < 400, String(picks));
  });

  it('has no host to give when there is none', () => {
    const balancer = randomBalancer([]);
    assert.equal(balancer.choose(), undefined);
  });

  it('takes all hosts of the first priority when too few are healthy', () => {
    const balancer = randomBalancer([
      host(1, { health: 'unhealthy' }),
      host(2, { health: 'unhealthy' }),
      host(3),
    ]);
    assert.equal(count(() => balancer.choose(), 300).size, 3);
    assert.equal(balancer.isPanicking, true);
  });
});

describe('the least request balancer', () => {
  const balancerOver = (
    hosts: readonly UpstreamHost[],
    busy: ReadonlyMap<number, number>,
    choiceCount = 2,
  ): LeastRequestPicker => {
    for (const each of hosts) active.add(each.activeSlot, busy.get(each.port) ?? 0);
    const options = { choiceCount, activeRequestBias: 1 };
    return new LeastRequestPicker(hosts, { options, random: evenNumbers() });
  };

  it('takes the busiest of two hosts only when it is drawn twice', () => {
    const balancer = balancerOver([host(1), host(2)], new Map([[1, 5]]));
    const counts = count(() => balancer.pick(), 10_000);
    assert.ok(Math.abs((counts.get(1) ?? 0) - 2_500) < 200, String(counts.get(1)));
  });

  it('avoids the busiest the more hosts it draws', () => {
    const balancer = balancerOver([host(1), host(2)], new Map([[1, 5]]), 8);
    const counts = count(() => balancer.pick(), 10_000);
    assert.ok((counts.get(1) ?? 0) < 100, String(counts.get(1)));
  });

  it('shares by weight where weights differ and nobody is busy', () => {
    const balancer = balancerOver([host(1), host(2, { weight: 3 })], new Map());
    const counts = count(() => balancer.pick(), 4_000);
    assert.deepEqual(
      counts,
      new Map([
        [2, 3_000],
        [1, 1_000],
      ]),
    );
  });

  it('counts how busy a host is against its weight', () => {
    const balancer = balancerOver([host(1), host(2, { weight: 3 })], new Map([[2, 2]]));
    const counts = count(() => balancer.pick(), 4_000);
    assert.equal(counts.get(1), 2_000);
  });
});

describe('shares of hosts', () => {
  /** Sum of squared differences over expectations; 99.9 % of fair draws stay below the limit. */
  function chiSquared(counts: ReadonlyMap<number, number>, shares: readonly number[]): number {
    const picks = [...counts.values()].reduce((sum, each) => sum + each, 0);
    const total = shares.reduce((sum, each) => sum + each, 0);
    return shares.reduce((sum, share, at) => {
      const expected = (picks * share) / total;
      return sum + ((counts.get(at + 1) ?? 0) - expected) ** 2 / expected;
    }, 0);
  }
  const LIMIT_9_DEGREES = 27.88;
  const PICKS = 100_000;
  const equal = Array.from({ length: 10 }, () => 1);
  const weights = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  const idle = { choiceCount: 2, activeRequestBias: 1 };
  const over = (each: readonly number[]): UpstreamHost[] =>
    each.map((weight, at) => host(at + 1, { weight }));
  const leastRequest = (hosts: readonly UpstreamHost[]): LeastRequestPicker =>
    new LeastRequestPicker(hosts, {
      options: idle,
      random: evenNumbers(),
    });

  const cases = [
    ['random', equal, () => new RandomPicker(over(equal), evenNumbers())],
    ['round robin', equal, () => new RoundRobinPicker(over(equal), { next: 3 })],
    ['weighted round robin', weights, () => new RoundRobinPicker(over(weights), { next: 3 })],
    ['least request', equal, () => leastRequest(over(equal))],
    ['weighted least request', weights, () => leastRequest(over(weights))],
  ] as const;
  for (const [title, shares, make] of cases) {
    it(`are fair with ${title}`, () => {
      const picker = make();
      const counts = count(() => picker.pick(), PICKS);
      assert.ok(chiSquared(counts, shares) < LIMIT_9_DEGREES);
    });
  }

  it('follow the weights of localities, less what a locality cannot take', () => {
    const near = { zone: 'near', localityWeight: 3 };
    const far = { zone: 'far', localityWeight: 1 };
    const random = evenNumbers();
    const balancer = new PriorityBalancer({
      panicThreshold: () => 0,
      makePicker: (hosts) => new RandomPicker(hosts, random),
      weighsLocalities: true,
      random,
    });
    updateBalancer(balancer, [host(1, near), host(2, near), host(3, far)], 140);
    const all = count(() => balancer.choose(), 4_000);
    assert.equal(all.get(3), 1_000);
    updateBalancer(
      balancer,
      [host(1, near), host(2, { ...near, health: 'unhealthy' }), host(3, far)],
      100,
    );
    const less = count(() => balancer.choose(), 5_000);
    assert.equal(less.get(3), 2_000, 'the near locality weighs 1.5');
  });
});

describe('priorities', () => {
  const balancerOver = (hosts: readonly UpstreamHost[]): PriorityBalancer => randomBalancer(hosts);
  const group = (healthy: number, sick: number, priority: number): UpstreamHost[] =>
    Array.from({ length: healthy + sick }, (_, at) =>
      host(100 * priority + at + 1, { priority, health: at < healthy ? 'healthy' : 'unhealthy' }),
    );

  // The table of Envoy's documentation on priority levels: 100 hosts, factor 1.4.
  const table: readonly (readonly [healthy0: number, healthy1: number, share0: number])[] = [
    [10, 10, 100],
    [7, 10, 98],
    [5, 10, 70],
    [2, 10, 28],
    [0, 10, 0],
    [5, 5, 70],
  ];
  for (const [first, second, share] of table) {
    it(`with ${first} and ${second} of ten usable hosts give the first ${share} %`, () => {
      const hosts = [...group(first, 10 - first, 0), ...group(second, 10 - second, 1)];
      const balancer = balancerOver(hosts);
      const counts = count(() => balancer.choose(), 20_000);
      let toFirst = 0;
      for (const [port, picks] of counts) if (port < 100) toFirst += picks;
      assert.ok(Math.abs(toFirst / 200 - share) < 1.5, `${toFirst / 200} %`);
    });
  }
});
