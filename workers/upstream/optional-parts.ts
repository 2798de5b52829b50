/**
 * The parts of a cluster that some configurations ask for: connections ahead of requests, weights
 * by reported loads, active health checks.
 */
import { findPolicy, isForeseeable } from '../../shared/resources/clusters/lb-policy.ts';
import { HealthChecker } from '../health/health-checker.ts';
import type { LoadBalancer } from './balancing/load-balancer.ts';
import type { UpstreamCluster } from './cluster.ts';
import type { ClusterContext } from './cluster-context.ts';
import type { UpstreamHost } from './hosts/host.ts';
import { OobSessions } from './load-reports/oob-sessions.ts';
import { ReportedLoadTeller } from './load-reports/reported-load-teller.ts';
import { Preconnecting } from './pools/preconnecting.ts';

/** Above what the runtime draws. */
const RANDOM_RANGE = 0x1_0000_0000;

export function makePreconnecting(
  cluster: Pick<UpstreamCluster, 'hosts' | 'resource'>,
  balancer: LoadBalancer,
): Preconnecting | undefined {
  const { preconnect, lbPolicy } = cluster.resource;
  if (preconnect === undefined || preconnect.predictive <= 1) return undefined;
  if (!isForeseeable(lbPolicy)) return undefined;
  return new Preconnecting({
    ratio: preconnect.predictive,
    hosts: () => cluster.hosts,
    chooseNext: (context) => balancer.choose(context, 0),
  });
}

export function makeLoadTeller(
  cluster: UpstreamCluster,
  context: ClusterContext,
): ReportedLoadTeller | undefined {
  const { name, resource } = cluster;
  const policy = findPolicy(resource.lbPolicy, 'client_side_weighted_round_robin');
  if (policy === undefined) return undefined;
  const { oob } = policy.loadReports;
  const noted = (host: UpstreamHost): void => cluster.loadNoted(host);
  const random = (): number => context.runtime.random() / RANDOM_RANGE;
  return new ReportedLoadTeller({
    ...(oob && { sessions: new OobSessions({ cluster, options: oob, random, noted }) }),
    loop: context.loop,
    updateMs: policy.loadReports.updateMs,
    tell: (weights) => context.loadReported(name, weights),
  });
}

export function makeChecker(
  cluster: UpstreamCluster,
  context: ClusterContext,
  hasTraffic: () => boolean,
): HealthChecker | undefined {
  const { healthChecks: checks } = cluster.resource;
  if (checks === undefined) return undefined;
  if (checks.some(({ probe }) => probe.kind === 'http')) cluster.stats.useHttp1();
  return new HealthChecker({
    cluster: cluster.name,
    checks,
    runtime: context.runtime,
    writer: context.stats,
    statPrefix: cluster.stats.prefix,
    duty: context.duty,
    ways: cluster,
    hasTraffic,
  });
}
