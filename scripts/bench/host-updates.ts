/**
 * What a change of one cluster of 10,000 hosts costs each process: the whole set in the supervisor and
 * in a worker, one check's result, one ejection. Milliseconds of CPU time, the median of some rounds.
 */
import { createBreakerPage } from '../../shared/limits/breaker-page.ts';
import { systemClock } from '../../shared/clock.ts';
import { HEALTH_BITS } from '../../shared/resources/host-health.ts';
import { EventLogs } from '../../supervisor/health/event-log.ts';
import { StatStore } from '../../supervisor/stats/stat-store.ts';
import { BreakerSlots } from '../../supervisor/upstreams/breaker-slots.ts';
import { LiveCluster } from '../../supervisor/upstreams/live-cluster.ts';
import { UpstreamCluster } from '../../workers/upstream/cluster.ts';
import { clusterContext } from '../../test/support/balancers.ts';
import { cluster, host } from '../../test/support/data-plane.ts';

const HOSTS = 10_000;
const ROUNDS = 15;

const hosts = Array.from({ length: HOSTS }, (_, at) => {
  const address = `10.0.${at >> 8}.${at & 255}`;
  return host(80, { id: `${address}:80`, address: { kind: 'ip', address, port: 80 } });
});
const check = {
  timeoutMs: 1000,
  intervalMs: 1000,
  unhealthyIntervalMs: 1000,
  healthyEdgeIntervalMs: 1000,
  unhealthyEdgeIntervalMs: 1000,
  noTrafficIntervalMs: 1000,
  noTrafficHealthyIntervalMs: 1000,
  initialJitterMs: 0,
  intervalJitterMs: 0,
  intervalJitterPercent: 0,
  unhealthyThreshold: 1,
  healthyThreshold: 1,
  reuseConnection: true,
  probe: { kind: 'tcp', send: '', receive: [] },
} as const;

const live = new LiveCluster({
  resolved: {
    resource: cluster('c', { healthCheck: check }),
    hosts: { cluster: 'c', hosts: [], overprovisioningFactor: 140 },
    secrets: [],
  },
  writer: new StatStore(() => true),
  clock: systemClock,
  earlierBits: () => undefined,
  random: Math.random,
  slots: () => {
    throw new Error('no outlier detection here');
  },
  breakers: new BreakerSlots(createBreakerPage(1), 1),
  runtime: () => new Map(),
  needs: [],
  eventLogs: new EventLogs(() => undefined),
  outlierLogPath: undefined,
  makeSource: () => undefined,
  changed: () => undefined,
});
report('supervisor: a set of 10,000 hosts', () => live.setHosts(hosts));
let at = 0;
report('supervisor: the result of one check', () => {
  at = (at + 1) % HOSTS;
  live.setActiveBits(hosts[at]?.id ?? '', at % 2 === 0 ? 0 : HEALTH_BITS.failed_active_hc);
});
for (const kind of ['ROUND_ROBIN', 'RING_HASH', 'MAGLEV'] as const) {
  const lbPolicy = { kind, healthyPanicThreshold: 50 };
  const inWorker = new UpstreamCluster(cluster('c', { lbPolicy }), clusterContext());
  const update = { cluster: 'c', hosts, overprovisioningFactor: 140 };
  report(`worker, ${kind}: a set of 10,000 hosts`, () => inWorker.putHosts(update));
  report(`worker, ${kind}: the health of one host`, () => {
    at = (at + 1) % HOSTS;
    inWorker.putHealth([[hosts[at]?.id ?? '', HEALTH_BITS.failed_active_hc]]);
  });
}

function report(what: string, act: () => void): void {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  const [first = 0] = times;
  const median = times.toSorted((left, right) => left - right)[ROUNDS >> 1] ?? 0;
  const figures = `${median.toFixed(3)} ms, the first time ${first.toFixed(3)} ms`;
  process.stdout.write(`${what.padEnd(48)} ${figures}\n`);
}
