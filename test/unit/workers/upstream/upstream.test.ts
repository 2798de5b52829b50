import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostHealth } from '../../../../shared/resources/clusters/cluster.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { ActiveRequests } from '../../../../workers/upstream/hosts/active-requests.ts';
import { UpstreamHost } from '../../../../workers/upstream/hosts/host.ts';
import { PriorityBalancer } from '../../../../workers/upstream/balancing/priority-balancer.ts';
import { RoundRobinPicker } from '../../../../workers/upstream/balancing/round-robin-picker.ts';
import { Retained } from '../../../../workers/upstream/hosts/retained.ts';
import { host as hostResource } from '../../../support/parts/data-plane.ts';
import { updateBalancer } from '../../../../workers/upstream/balancing/load-balancer.ts';

function hosts(
  specs: readonly { health?: HostHealth; weight?: number; priority?: number }[],
): UpstreamHost[] {
  const stats = new WorkerStatStore();
  const active = new ActiveRequests();
  return specs.map((spec, at) => new UpstreamHost(hostResource(at + 1, spec), 'c', stats, active));
}

/** How often each port was chosen. */
function tally(balancer: PriorityBalancer, picks: number): Record<number, number> {
  const counts: Record<number, number> = {};
  for (let pick = 0; pick < picks; pick++) {
    const port = balancer.choose()?.port ?? 0;
    counts[port] = (counts[port] ?? 0) + 1;
  }
  return counts;
}

describe('round robin', () => {
  const balanced = (...specs: Parameters<typeof hosts>[0]): PriorityBalancer => {
    const balancer = new PriorityBalancer({
      panicThreshold: () => 50,
      makePicker: (usable) => new RoundRobinPicker(usable, { next: 7 }),
      random: Math.random,
      weighsLocalities: false,
    });
    updateBalancer(balancer, hosts(specs), 140);
    return balancer;
  };

  it('goes round', () => {
    const balancer = balanced({}, {}, {});
    const ports = [1, 2, 3, 4].map(() => balancer.choose()?.port);
    assert.equal(ports[3], ports[0]);
    assert.equal(new Set(ports).size, 3);
    assert.deepEqual(tally(balancer, 300), { 1: 100, 2: 100, 3: 100 });
  });

  it('follows weights without bursts', () => {
    const balancer = balanced({ weight: 3 }, { weight: 1 });
    assert.deepEqual(tally(balancer, 400), { 1: 300, 2: 100 });
    const run = Array.from({ length: 40 }, () => balancer.choose()?.port).join('');
    assert.doesNotMatch(run, /1111|22/);
  });

  it('leaves unhealthy hosts out, and takes degraded ones when no healthy one is left', () => {
    assert.deepEqual(tally(balanced({}, {}, { health: 'unhealthy' }), 10), { 1: 5, 2: 5 });
    assert.deepEqual(tally(balanced({ health: 'degraded' }, { health: 'unhealthy' }), 4), { 1: 4 });
  });

  it('takes the best priority that has hosts enough', () => {
    assert.deepEqual(tally(balanced({ priority: 1 }, { priority: 0 }), 4), { 2: 4 });
    assert.deepEqual(tally(balanced({ health: 'unhealthy' }, { priority: 1 }), 4), { 2: 4 });
  });

  it('takes all hosts when too few are healthy', () => {
    const balancer = balanced({}, { health: 'unhealthy' }, { health: 'unhealthy' });
    assert.deepEqual(tally(balancer, 9), { 1: 3, 2: 3, 3: 3 });
    assert.equal(balancer.isPanicking, true);
  });

  it('has nothing to choose from no hosts', () => {
    assert.equal(balanced().choose(), undefined);
  });
});

describe('what is retained', () => {
  it('is released with its last holder, and only after it has ended', () => {
    let released = 0;
    const retained = new Retained(() => released++);
    retained.hold();
    retained.letGo();
    assert.equal(released, 0);
    retained.hold();
    retained.hold();
    retained.end();
    retained.letGo();
    assert.equal(released, 0);
    retained.letGo();
    assert.equal(released, 1);
  });
});
