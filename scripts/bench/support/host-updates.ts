/**
 * What a change of one cluster of 10,000 hosts costs each process: the whole set in the supervisor
 * and in a worker, one check's result, one ejection. Milliseconds of CPU time, the median of some
 * rounds; in workers also the longest time for which one change held up the loop. How much later
 * that makes the answers to requests is the question of host-updates-traffic.ts.
 */
import { NO_ORDERS } from '../../../supervisor/upstreams/hosts/host-orders.ts';
import { createBreakerPage } from '../../../shared/limits/breaker-page.ts';
import { systemClock } from '../../../shared/process/clock.ts';
import { HEALTH_BITS } from '../../../shared/resources/clusters/host-health.ts';
import { EventLogs } from '../../../supervisor/health/event-log.ts';
import { StatStore } from '../../../supervisor/stats/stat-store.ts';
import { BreakerSlots } from '../../../supervisor/upstreams/breakers/breaker-slots.ts';
import { LiveCluster } from '../../../supervisor/upstreams/live-cluster.ts';
import { UpstreamCluster } from '../../../workers/upstream/cluster.ts';
import { clusterContext } from '../../../test/support/parts/balancers.ts';
import { cluster, host } from '../../../test/support/parts/data-plane.ts';
import { TCP_CHECK } from '../../../test/support/parts/health-checks.ts';
import { MergeWindow } from '../../../supervisor/upstreams/merge-window.ts';

const HOSTS = 10_000;
const ROUNDS = 15;
/** Turns of the loop without work to do. */
const QUIET_TURNS = 20;
const QUIET_MS = 0.1;

const hosts = Array.from({ length: HOSTS }, (_, at) => {
  const address = `10.0.${at >> 8}.${at & 255}`;
  return host(80, { id: `${address}:80`, address: { kind: 'ip', address, port: 80 } });
});
const live = new LiveCluster({
  orders: NO_ORDERS,
  resolved: {
    resource: cluster('c', { healthChecks: [TCP_CHECK] }),
    hosts: { cluster: 'c', hosts: [], overprovisioningFactor: 140 },
    observabilityName: 'c',
    secrets: [],
  },
  writer: new StatStore(() => true),
  clock: systemClock,
  version: 1,
  hasTraffic: false,
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
  merges: new MergeWindow({ windowMs: 0, clock: systemClock, count: () => undefined }),
  isUsed: () => false,
  changed: () => undefined,
});
report('supervisor: a set of 10,000 hosts', () => live.setHosts(hosts));
let at = 0;
report('supervisor: the result of one check', () => {
  at = (at + 1) % HOSTS;
  live.setActiveBits(hosts[at]?.id ?? '', at % 2 === 0 ? 0 : HEALTH_BITS.failed_active_hc);
});
const others = hosts.map((each, position) =>
  host(81, { ...each, id: `${each.id}${position % 2}`, weight: 1 + (position % 5) }),
);
for (const kind of ['round_robin', 'least_request', 'ring_hash', 'maglev'] as const) {
  const lbPolicy = { kind };
  const inWorker = new UpstreamCluster(cluster('c', { lbPolicy }), clusterContext());
  const update = { cluster: 'c', hosts, overprovisioningFactor: 140 };
  await reportTurns(`worker, ${kind}: a set of 10,000 hosts`, (round) =>
    inWorker.putHosts(round % 2 === 0 ? update : { ...update, hosts: [...hosts] }),
  );
  await reportTurns(`worker, ${kind}: all hosts are others`, (round) =>
    inWorker.putHosts(round % 2 === 0 ? { ...update, hosts: others } : update),
  );
  await reportTurns(`worker, ${kind}: the health of one host`, () => {
    at = (at + 1) % HOSTS;
    inWorker.putHealth([[hosts[at]?.id ?? '', HEALTH_BITS.failed_active_hc]]);
  });
}

/** `act` begins what goes on for some turns of the loop. */
async function reportTurns(what: string, act: (round: number) => void): Promise<void> {
  const blocks: number[] = [];
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    let lastMs = performance.now();
    act(round);
    for (let quiet = 0; quiet < QUIET_TURNS;) {
      await new Promise((resolve) => setImmediate(resolve));
      const nowMs = performance.now();
      blocks.push(nowMs - lastMs);
      quiet = nowMs - lastMs < QUIET_MS ? quiet + 1 : 0;
      lastMs = nowMs;
    }
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  const median = times.toSorted((left, right) => left - right)[ROUNDS >> 1] ?? 0;
  const sorted = blocks
    .filter((block) => block >= QUIET_MS)
    .toSorted((left, right) => left - right);
  const most = sorted.at(-1) ?? 0;
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  const turns = `turns of the loop: p99 ${p99.toFixed(2)} ms, longest ${most.toFixed(2)} ms`;
  process.stdout.write(`${what.padEnd(48)} ${median.toFixed(3)} ms; ${turns}\n`);
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
