import { type HostResource } from '../../../../../shared/resources/clusters/cluster.ts';
import { type NestedPolicy } from '../../../../../shared/resources/clusters/lb-policy.ts';
import { HeaderMap } from '../../../../../workers/stream/header-map.ts';
import { WorkerStatStore } from '../../../../../workers/stats/worker-stat-store.ts';
import { ActiveRequests } from '../../../../../workers/upstream/hosts/active-requests.ts';
import { UpstreamHost } from '../../../../../workers/upstream/hosts/host.ts';
import {
  type LoadBalancer,
  updateBalancer,
} from '../../../../../workers/upstream/balancing/load-balancer.ts';
import { type BalancerContext } from '../../../../../workers/upstream/balancing/balancer-context.ts';
import { makeBalancer } from '../../../../../workers/upstream/balancing/lb-policies.ts';
import { balancerContext } from '../../../../support/parts/balancers.ts';
import { host } from '../../../../support/parts/data-plane.ts';

/** Hosts behind a policy, and how often it chooses each. */

export const PICKS = 100_000;

const stats = new WorkerStatStore();

const active = new ActiveRequests();

export function hosts(facts: readonly Partial<HostResource>[]): readonly UpstreamHost[] {
  return facts.map((each, at) => new UpstreamHost(host(at + 1, each), 'c', stats, active));
}

export function balancer(
  policy: NestedPolicy,
  of: readonly UpstreamHost[],
  context: Partial<BalancerContext> = {},
): LoadBalancer {
  const made = makeBalancer(policy, balancerContext(context));
  updateBalancer(made, of, 140);
  return made;
}

export function tally(from: LoadBalancer, picks = PICKS, headers = new HeaderMap()): number[] {
  const context = {
    requestHeaders: headers,
    computeHash: () => undefined,
    maxHostDraws: 0,
    refusesHost: () => false,
  };
  const counts: number[] = [];
  for (let pick = 0; pick < picks; pick++) {
    const port = from.choose(context, 0)?.port ?? 0;
    counts[port] = (counts[port] ?? 0) + 1;
  }
  return Array.from({ length: counts.length }, (_, port) => counts[port] ?? 0);
}
