import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createBreakerPage } from '../../../../shared/limits/breaker-page.ts';
import type { ClusterLoadAssignment } from '../../../../shared/api/generated/envoy/config/endpoint/v3/endpoint.ts';
import { systemClock } from '../../../../shared/process/clock.ts';
import type {
  ClusterHostsResource,
  HostResource,
} from '../../../../shared/resources/clusters/cluster.ts';
import { HEALTH_BITS } from '../../../../shared/resources/clusters/host-health.ts';
import { joinHosts, splitHosts } from '../../../../shared/resources/clusters/host-parts.ts';
import { CLUSTER } from '../../../../shared/stats/templates/cluster.ts';
import { EventLogs } from '../../../../supervisor/health/event-log.ts';
import { atOnce, type Steps } from '../../../../supervisor/loop/loop-turns.ts';
import { loadAssignmentInSteps } from '../../../../supervisor/resources/clusters/load-assignment.ts';
import { Scope } from '../../../../supervisor/resources/scope.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { BreakerSlots } from '../../../../supervisor/upstreams/breakers/breaker-slots.ts';
import { NO_ORDERS } from '../../../../supervisor/upstreams/hosts/host-orders.ts';
import { SentHosts } from '../../../../supervisor/upstreams/hosts/sent-hosts.ts';
import { LiveCluster } from '../../../../supervisor/upstreams/live-cluster.ts';
import { MergeWindow } from '../../../../supervisor/upstreams/merge-window.ts';
import { cluster, host } from '../../../support/parts/data-plane.ts';

/** More hosts are never looked at in one step. */
const MOST_PER_STEP = 512;
const MANY = 20_000;

function liveCluster(hosts: readonly HostResource[], writer = new StatStore()): LiveCluster {
  const unused = (): never => assert.fail('a static cluster needs none');
  return new LiveCluster({
    orders: NO_ORDERS,
    resolved: {
      resource: cluster('c'),
      hosts: { cluster: 'c', hosts, overprovisioningFactor: 140 },
      observabilityName: 'c',
      secrets: [],
    },
    writer,
    clock: systemClock,
    random: Math.random,
    slots: unused,
    breakers: new BreakerSlots(createBreakerPage(1), 1),
    runtime: () => new Map(),
    eventLogs: new EventLogs(unused),
    outlierLogPath: undefined,
    version: 1,
    hasTraffic: false,
    needs: [],
    makeSource: () => undefined,
    merges: new MergeWindow({ windowMs: 0, clock: systemClock, count: () => undefined }),
    isUsed: () => false,
    changed: () => undefined,
  });
}

function many(weight: number): readonly HostResource[] {
  return Array.from({ length: MANY }, (_, index) => host(index + 1, { weight }));
}

/** How many steps there are; `between` is called before each with its number. */
function count<Result>(
  steps: Steps<Result>,
  between?: (step: number) => void,
): { readonly steps: number; readonly result: Result } {
  for (let number = 1; ; number++) {
    between?.(number);
    const step = steps.next();
    if (step.done === true) return { steps: number, result: step.value };
  }
}

describe('a large set of hosts', () => {
  it('is resolved in short steps', () => {
    const lb_endpoints = Array.from({ length: MANY }, (_, index) => ({
      endpoint: { address: { socket_address: { address: '10.0.0.1', port_value: index + 1 } } },
    }));
    const message = { cluster_name: 'c', endpoints: [{ lb_endpoints }] } as ClusterLoadAssignment;
    const scope = new Scope({
      problems: { report: (problem) => assert.fail(problem.message) },
      maxRegexProgramSize: 100,
      disabledExtensions: new Set<string>(),
      skipSecrets: false,
      nodeName: { id: '', cluster: '' },
    });
    const { steps, result } = count(loadAssignmentInSteps('c', message, scope));
    assert.equal(result.hosts.length, MANY);
    assert.ok(steps > MANY / MOST_PER_STEP, `${steps} steps`);
  });

  it('comes into force in its last step, and short ones before it', () => {
    const live = liveCluster(many(1));
    const { steps, result } = count(live.setHostsInSteps(many(2)), () =>
      assert.equal(live.hostList.at(-1)?.weight, 1),
    );
    assert.equal(result, true);
    assert.ok(steps > (2 * MANY) / MOST_PER_STEP, `${steps} steps`);
    assert.ok(live.hostList.every(({ weight }) => weight === 2));
    live.close();
  });

  it('is finished before another one that comes meanwhile', () => {
    const live = liveCluster(many(1));
    const { result } = count(live.setHostsInSteps(many(2)), (step) => {
      if (step === 30) live.setHosts(many(3).slice(0, 7));
    });
    assert.equal(result, true);
    assert.equal(live.hostList.length, 7);
    assert.equal(live.hostList[0]?.weight, 3);
    live.close();
  });

  it('is packed in short steps, and what is said of a host meanwhile goes beside it', () => {
    const sent = new SentHosts();
    const setOf = (hosts: readonly HostResource[]): ClusterHostsResource => ({
      cluster: 'c',
      hosts,
      overprovisioningFactor: 140,
    });
    const version = { hosts: setOf([]) };
    const hosts = many(1).map((each, index) => ({ ...each, weight: index + 1 }));
    const { steps } = count(sent.prepare(version, hosts));
    assert.ok(steps > MANY / MOST_PER_STEP, `${steps} steps`);
    const failed = { ...(hosts[5] as HostResource), healthBits: HEALTH_BITS.failed_active_hc };
    version.hosts = setOf(hosts.with(5, failed));
    const updates = sent.updatesOf(version);
    assert.deepEqual(splitHosts(updates), updates, 'workers get the parts as they are');
    const [put, health, ...more] = joinHosts(updates);
    assert.ok(put?.op === 'put_hosts' && put.more === undefined);
    assert.deepEqual(put.hosts.hosts, hosts);
    assert.deepEqual(health, {
      op: 'put_host_health',
      cluster: 'c',
      bits: [[failed.id, failed.healthBits]],
    });
    assert.deepEqual(more, []);
  });
});

function figure(store: StatStore, name: keyof typeof CLUSTER.index): number {
  return store.valueOf((store.find(CLUSTER, 'cluster.c.')?.base ?? NaN) + CLUSTER.index[name]);
}

/** So that there are some steps. */
const OTHERS = Array.from({ length: 600 }, (_, index) => host(1000 + index));

describe('a set that comes in steps', () => {
  const set = fc.uniqueArray(
    fc.record({ port: fc.integer({ min: 1, max: 40 }), priority: fc.integer({ max: 2, min: 0 }) }),
    { selector: ({ port }) => port, maxLength: 40 },
  );
  const said = fc.record({ port: fc.integer({ min: 1, max: 40 }), bits: fc.constantFrom(0, 1) });

  it('is the one that comes at once, whatever is said of hosts in between', () => {
    fc.assert(
      fc.property(set, set, fc.array(said), fc.nat(8), (before, after, news, at) => {
        const hostsOf = (list: typeof before, weight: number): readonly HostResource[] => [
          ...list.map(({ port, priority }) => host(port, { priority, weight })),
          ...OTHERS,
        ];
        const stays = new Set(after.map(({ port }) => port));
        const gets = new Set(before.map(({ port }) => port));
        const known = news.filter(({ port }) => stays.has(port) && gets.has(port));
        const [inSteps, once] = [new StatStore(), new StatStore()];
        const [live, other] = [
          liveCluster(hostsOf(before, 1), inSteps),
          liveCluster(hostsOf(before, 1), once),
        ];
        const tell = (to: LiveCluster): void => {
          for (const { port, bits } of known) to.setActiveBits(host(port).id, bits);
        };
        const { steps } = count(live.setHostsInSteps(hostsOf(after, 2)), (step) => {
          if (step === at + 1) tell(live);
        });
        if (steps <= at) tell(live);
        other.setHosts(hostsOf(after, 2));
        tell(other);
        assert.deepEqual(live.hostList, other.hostList);
        for (const [position, { id }] of live.hostList.entries()) {
          assert.equal(live.positionOf(id), position);
        }
        for (const name of ['membership_healthy', 'membership_total'] as const) {
          assert.equal(figure(inSteps, name), figure(once, name));
        }
        atOnce(live.setHostsInSteps([]));
        assert.deepEqual(live.hostList, []);
        live.close();
        other.close();
      }),
      { numRuns: 60 },
    );
  });
});
