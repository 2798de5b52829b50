import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostResource } from '../../../../shared/resources/clusters/cluster.ts';
import { ReportedWeights } from '../../../../supervisor/upstreams/hosts/reported-weights.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const UPDATE_MS = 1_000;
const OPTIONS = {
  blackoutMs: 5_000,
  expirationMs: 60_000,
  updateMs: UPDATE_MS,
  metricNames: [],
  errorPenalty: 0,
};
const HOSTS = [host('a', 2), host('b', 3), host('c', 4), host('backup', 5, 1)];
const isThere = (): boolean => true;

describe('the weights that /clusters shows of hosts that report their load', () => {
  it('are those of the configuration until weights are computed, and then all alike', () => {
    const clock = new ManualClock();
    const weights = new ReportedWeights(OPTIONS, clock);
    assert.deepEqual(weights.weightsOf(HOSTS), [2, 3, 4, 5]);
    clock.pass(UPDATE_MS);
    assert.deepEqual(weights.weightsOf(HOSTS), [1, 1, 1, 1]);
  });

  it('are the reported ones, and the median of the priority for who reports nothing', () => {
    const clock = new ManualClock();
    const weights = new ReportedWeights(OPTIONS, clock);
    clock.pass(UPDATE_MS);
    weights.report([sent('a', 200), sent('b', 1000)], isThere);
    assert.deepEqual(weights.weightsOf(HOSTS), [200, 1000, 600, 1]);
    weights.report([sent('a', 400)], isThere);
    assert.deepEqual(weights.weightsOf(HOSTS), [400, 1000, 700, 1]);
  });

  it('count after the time that a host has to report for, and until they are too old', () => {
    const clock = new ManualClock();
    const weights = new ReportedWeights(OPTIONS, clock);
    clock.pass(UPDATE_MS);
    weights.report([{ ...sent('a', 200), forMs: 4_000 }], isThere);
    assert.deepEqual(weights.weightsOf(HOSTS.slice(0, 1)), [1]);
    clock.pass(1_000);
    assert.deepEqual(weights.weightsOf(HOSTS.slice(0, 1)), [200]);
    clock.pass(59_000);
    assert.deepEqual(weights.weightsOf(HOSTS.slice(0, 1)), [1]);
  });

  it('are forgotten with their hosts', () => {
    const clock = new ManualClock();
    const weights = new ReportedWeights(OPTIONS, clock);
    clock.pass(UPDATE_MS);
    weights.report([sent('a', 200), sent('gone', 9)], (id) => id !== 'gone');
    assert.deepEqual(weights.weightsOf([host('gone', 1)]), [1]);
    weights.report([], () => false);
    assert.deepEqual(weights.weightsOf(HOSTS.slice(0, 1)), [1]);
  });
});

function sent(name: string, weight: number): Parameters<ReportedWeights['report']>[0][number] {
  return { host: name, weight, forMs: 10_000, agoMs: 0 };
}

function host(id: string, weight: number, priority = 0): HostResource {
  return {
    id,
    address: { kind: 'ip', address: '127.0.0.1', port: 1 },
    hostname: '',
    canary: false,
    weight,
    priority,
    health: 'healthy',
    region: '',
    zone: '',
    subZone: '',
  };
}
