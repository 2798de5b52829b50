/** Hosts behind a policy that hashes, and its choices. */
import { balancerContext } from '../../../../support/parts/balancers.ts';
import { type NestedPolicy } from '../../../../../shared/resources/clusters/lb-policy.ts';
import { type Hash64 } from '../../../../../workers/hash/xxhash64.ts';
import { HeaderMap } from '../../../../../workers/stream/header-map.ts';
import { WorkerStatStore } from '../../../../../workers/stats/worker-stat-store.ts';
import { ActiveRequests } from '../../../../../workers/upstream/hosts/active-requests.ts';
import { UpstreamHost } from '../../../../../workers/upstream/hosts/host.ts';
import { type LoadBalancer } from '../../../../../workers/upstream/balancing/load-balancer.ts';
import { makeBalancer } from '../../../../../workers/upstream/balancing/lb-policies.ts';
import { host } from '../../../../support/parts/data-plane.ts';

const stats = new WorkerStatStore();

const active = new ActiveRequests();

export function hosts(weights: readonly number[]): UpstreamHost[] {
  return weights.map((weight, at) => {
    const address = `127.0.0.${at + 2}`;
    const facts = {
      id: `${address}:9`,
      address: { kind: 'ip', address, port: 9 },
      weight,
    } as const;
    return new UpstreamHost(host(9, facts), 'c', stats, active);
  });
}

export function balancer(policy: NestedPolicy): LoadBalancer {
  return makeBalancer(policy, balancerContext());
}

export function choose(
  from: LoadBalancer,
  hash: Hash64 | undefined,
  draw = 0,
): UpstreamHost | undefined {
  const context = {
    requestHeaders: new HeaderMap(),
    computeHash: () => hash,
    maxHostDraws: 0,
    refusesHost: () => false,
  };
  return from.choose(context, draw);
}
