import { NO_ORDERS } from '../../../../supervisor/upstreams/hosts/host-orders.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../../../shared/process/clock.ts';
import { createBreakerPage } from '../../../../shared/limits/breaker-page.ts';
import type { HostResource } from '../../../../shared/resources/clusters/cluster.ts';
import {
  flagsOf,
  HEALTH_BITS,
  healthOf,
} from '../../../../shared/resources/clusters/host-health.ts';
import { EventLogs } from '../../../../supervisor/health/event-log.ts';
import { CLUSTER } from '../../../../shared/stats/templates/cluster.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { BreakerSlots } from '../../../../supervisor/upstreams/breakers/breaker-slots.ts';
import { LiveCluster } from '../../../../supervisor/upstreams/live-cluster.ts';
import { UpstreamCluster } from '../../../../workers/upstream/cluster.ts';
import { clusterContext } from '../../../support/parts/balancers.ts';
import { cluster, host } from '../../../support/parts/data-plane.ts';
import { TCP_CHECK } from '../../../support/parts/health-checks.ts';
import { MergeWindow } from '../../../../supervisor/upstreams/merge-window.ts';

const CHECKED = cluster('c', { healthChecks: [TCP_CHECK] });
const UNCHECKED: Partial<HostResource> = { check: { isDisabled: true } };

function liveCluster(writer = new StatStore()): LiveCluster {
  const unused = (): never => assert.fail('a static cluster needs none');
  return new LiveCluster({
    orders: NO_ORDERS,
    resolved: {
      resource: CHECKED,
      hosts: { cluster: 'c', hosts: [host(1), host(2)], overprovisioningFactor: 140 },
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

describe('a host whose checks are switched off and on', () => {
  it('is well without them, whatever they found, and has to pass again with them', () => {
    const live = liveCluster();
    const flags = (): readonly string[] =>
      live.hosts.hosts.map(({ healthBits = 0 }) => flagsOf(healthBits).join(' '));
    live.setActiveBits('127.0.0.1:1', HEALTH_BITS.failed_active_hc);
    live.setActiveBits('127.0.0.1:2', 0);
    assert.deepEqual(flags(), ['failed_active_hc', '']);
    live.setHosts([host(1, UNCHECKED), host(2)]);
    assert.deepEqual(flags(), ['', '']);
    live.setHosts([host(1), host(2)]);
    assert.deepEqual(flags(), ['failed_active_hc', '']);
    live.close();
  });
});

describe('a set of hosts', () => {
  it('in another order is the same set, in the order that it had', () => {
    const live = liveCluster();
    assert.equal(live.setHosts([host(2), host(1)]), false);
    const ids = live.hosts.hosts.map(({ id }) => id);
    assert.deepEqual(ids, ['127.0.0.1:1', '127.0.0.1:2']);
    assert.equal(live.setHosts([host(2)]), true);
    live.close();
  });

  it('is the same set where a host is in the same health for another reason, which is shown', () => {
    const store = new StatStore();
    const live = liveCluster(store);
    const base = store.find(CLUSTER, 'cluster.c.')?.base ?? NaN;
    const figure = (name: keyof typeof CLUSTER.index): number =>
      store.valueOf(base + CLUSTER.index[name]);
    live.setActiveBits('127.0.0.1:1', 0);
    live.setActiveBits('127.0.0.1:2', 0);
    const say = (
      healthBits: number,
      configuredHealth?: HostResource['configuredHealth'],
    ): boolean => {
      const said = configuredHealth === undefined ? {} : { configuredHealth };
      const state = { health: healthOf(healthBits), healthBits, ...said };
      return live.setHosts([host(1), host(2, state)]);
    };
    const flags = (): readonly string[] => flagsOf(live.hosts.hosts[1]?.healthBits ?? 0);
    assert.equal(say(HEALTH_BITS.failed_eds_health, 'UNHEALTHY'), true);
    assert.equal(say(HEALTH_BITS.eds_status_draining, 'DRAINING'), false);
    assert.deepEqual(flags(), ['eds_status_draining']);
    assert.equal(figure('membership_excluded'), 0);
    assert.equal(say(0), true);
    assert.equal(say(HEALTH_BITS.eds_status_draining, 'DRAINING'), true);
    assert.equal(figure('membership_excluded'), 1);
    assert.equal(figure('membership_healthy'), 1);
    live.close();
  });

  it('keeps what checks found of a host that is said to be elsewhere', () => {
    const live = liveCluster();
    live.setActiveBits('127.0.0.1:1', 0);
    assert.equal(live.setHosts([host(1, { zone: 'z' }), host(2)]), true);
    const flags = live.hosts.hosts.map(({ healthBits = 0 }) => flagsOf(healthBits).join(' '));
    assert.deepEqual(flags, ['', 'failed_active_hc']);
    live.close();
  });
});

describe('checks of a host', () => {
  it('begin again when they are to ask elsewhere, and only then', () => {
    let begun = 0;
    const clock: typeof systemClock = {
      ...systemClock,
      after: () => {
        begun += 1;
        return { cancel: () => undefined };
      },
    };
    const duty = { ...clusterContext().duty, clock, workerIndex: 0, living: [0] };
    const checked = new UpstreamCluster(CHECKED, { ...clusterContext(), duty });
    const put = (changes: Partial<HostResource>): number => {
      const before = begun;
      const hosts = [host(1, { wasChecked: true, ...changes })];
      checked.putHosts({ cluster: 'c', hosts, overprovisioningFactor: 140 });
      return begun - before;
    };
    assert.equal(put({}), 1);
    assert.equal(put({ weight: 7, healthBits: HEALTH_BITS.failed_eds_health }), 0);
    assert.equal(put({ check: { port: 9 } }), 1);
    assert.equal(put({ check: { port: 9 } }), 0);
    assert.equal(put({ check: { port: 9, hostname: 'other.test' } }), 1);
    assert.equal(put({ metadata: { 'envoy.lb': { a: 1 } } }), 1);
    assert.equal(put({ metadata: { 'envoy.lb': { a: 2 } } }), 0);
    assert.equal(put({ zone: 'z' }), 1);
    assert.equal(put(UNCHECKED), 0);
    checked.close();
  });
});
