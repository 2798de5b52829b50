/**
 * Prints nanoseconds of CPU time per choice of a host, by policy and number of hosts: it must not
 * grow with them.
 */
import { balancerContext } from '../../test/support/parts/balancers.ts';
import { WorkerStatStore } from '../../workers/stats/worker-stat-store.ts';
import { xxHash64 } from '../../workers/hash/xxhash64.ts';
import { HeaderMap } from '../../workers/stream/header-map.ts';
import { ActiveRequests } from '../../workers/upstream/hosts/active-requests.ts';
import { UpstreamHost } from '../../workers/upstream/hosts/host.ts';
import { makeBalancer } from '../../workers/upstream/balancing/lb-policies.ts';
import { host } from '../../test/support/parts/data-plane.ts';
import { updateBalancer } from '../../workers/upstream/balancing/load-balancer.ts';

const COUNTS = [10, 1_000, 10_000] as const;
const POLICIES = ['round_robin', 'least_request', 'random', 'ring_hash', 'maglev'] as const;
const PICKS = 500_000;

const hash = xxHash64('a key');
const context = {
  requestHeaders: new HeaderMap(),
  computeHash: () => hash,
  maxHostDraws: 0,
  refusesHost: () => false,
};

for (const weights of ['equal', 'weighted'] as const) {
  for (const kind of POLICIES) {
    const figures = COUNTS.map((count) => `${measure(kind, count, weights).toFixed(0)} ns`);
    const columns = figures.map((figure) => figure.padStart(10)).join('');
    process.stdout.write(`${kind.padEnd(14)} ${weights.padEnd(9)}${columns}\n`);
  }
}

function measure(
  kind: (typeof POLICIES)[number],
  count: number,
  weights: 'equal' | 'weighted',
): number {
  const stats = new WorkerStatStore();
  const active = new ActiveRequests();
  const balancer = makeBalancer({ kind }, balancerContext());
  const hosts = Array.from({ length: count }, (_, at) => {
    const weight = weights === 'equal' ? 1 : 1 + (at % 10);
    return new UpstreamHost(host(at + 1, { weight }), 'c', stats, active);
  });
  updateBalancer(balancer, hosts, 140);
  for (let pick = 0; pick < PICKS / 10; pick++) balancer.choose(context, 0);
  const before = process.cpuUsage();
  for (let pick = 0; pick < PICKS; pick++) balancer.choose(context, 0);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / PICKS;
}
