import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostResource } from '../../../shared/resources/cluster.ts';
import { WorkerStatStore } from '../../../workers/stats/worker-stat-store.ts';
import { UpstreamHost } from '../../../workers/upstream/host.ts';
import { LeastRequestPicker } from '../../../workers/upstream/least-request-picker.ts';
import { PriorityBalancer } from '../../../workers/upstream/priority-balancer.ts';
import { RandomPicker } from '../../../workers/upstream/random-picker.ts';

function host(port: number, facts: Partial<HostResource> = {}): UpstreamHost {
  const resource: HostResource = {
    id: `127.0.0.1:${port}`,
    address: { kind: 'ip', address: '127.0.0.1', port },
    hostname: '',
    weight: 1,
    priority: 0,
    health: 'healthy',
    region: '',
    zone: '',
    subZone: '',
    canary: false,
    ...facts,
  };
  return new UpstreamHost(resource, 'c', new WorkerStatStore());
}

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
  const balancer = new PriorityBalancer({ panicThreshold: 50, makePicker, random });
  balancer.update(hosts, 140);
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
    active: ReadonlyMap<number, number>,
    choiceCount = 2,
  ): LeastRequestPicker =>
    new LeastRequestPicker(hosts, {
      options: { choiceCount, activeRequestBias: 1 },
      random: evenNumbers(),
      activeRequests: ({ port }) => active.get(port) ?? 0,
    });

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
