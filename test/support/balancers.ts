/** What balancers need around them. */
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { BalancerContext } from '../../workers/upstream/make-balancer.ts';

export function balancerContext(
  stats: StatWriter,
  changes: Partial<BalancerContext> = {},
): BalancerContext {
  return {
    stats,
    runtime: { snapshot: new Map(), random: () => 0 },
    ownLocality: { region: '', zone: '', subZone: '' },
    localCluster: () => undefined,
    nowMs: () => 0,
    count: () => undefined,
    countStructure: () => undefined,
    onDuplicates: () => undefined,
    allActiveRequests: () => 0,
    onTable: () => undefined,
    ...changes,
  };
}
