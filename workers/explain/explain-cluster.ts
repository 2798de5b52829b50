/** Which hosts of a cluster a request may go to, and why the others are left out. */
import type { ExplainedCluster, ExplainedHost } from '../../shared/explain/explanation.ts';
import { flagsOf } from '../../shared/resources/clusters/host-health.ts';
import { findPolicy } from '../../shared/resources/clusters/lb-policy.ts';
import type { Steps } from '../loop/sliced-work.ts';
import type { SubsetCriteria } from '../stream/route.ts';
import {
  computeLoads,
  groupByPriority,
  type PriorityLoads,
} from '../upstream/balancing/priority-loads.ts';
import { hasCriteria } from '../upstream/balancing/subset-keys.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';

/** Hosts that are listed. */
const LISTED_MAX = 200;

export function* explainCluster(
  cluster: UpstreamCluster,
  subset: SubsetCriteria | undefined,
): Steps<ExplainedCluster> {
  const { hosts, resource, overprovisioningFactor } = cluster;
  const groups = yield* groupByPriority(hosts);
  const panicThreshold = resource.healthyPanicThreshold;
  const loads = computeLoads(groups, { panicThreshold, overprovisioningFactor });
  const listsAsAny = findPolicy(resource.lbPolicy, 'subset')?.options.listsAsAny === true;
  const isInSubset = (host: UpstreamHost): boolean =>
    subset === undefined || hasCriteria(host, subset, listsAsAny);
  const hasSubsets = findPolicy(resource.lbPolicy, 'subset') !== undefined;
  return {
    name: cluster.name,
    policy: policyText(resource.lbPolicy),
    priorities: groups.map((_, priority) => ({
      priority,
      healthyPercent: loads.healthy[priority] ?? 0,
      degradedPercent: loads.degraded[priority] ?? 0,
      isPanicking: loads.panics[priority] === true,
    })),
    hosts: hosts
      .slice(0, LISTED_MAX)
      .map((host) =>
        hasSubsets && !isInSubset(host)
          ? explained(host, false, `not in the subset ${JSON.stringify(subset)}`)
          : explainHost(host, loads),
      ),
    omitted: Math.max(0, hosts.length - LISTED_MAX),
  };
}

/** The tree of policies in one line, the outermost first. */
function policyText(policy: UpstreamCluster['resource']['lbPolicy']): string {
  return 'child' in policy ? `${policy.kind} of ${policyText(policy.child)}` : policy.kind;
}

function explainHost(host: UpstreamHost, loads: PriorityLoads): ExplainedHost {
  const { priority, health, healthBits = 0 } = host.resource;
  const flags = flagsOf(healthBits);
  const said = flags.length === 0 ? health : `${health} (${flags.join(', ')})`;
  const share = `priority ${priority}`;
  if (loads.panics[priority] === true) {
    const takes = (loads.healthy[priority] ?? 0) + (loads.degraded[priority] ?? 0) > 0;
    return takes
      ? explained(host, true, `${said}; ${share} is in panic and asks all of its hosts`)
      : explained(host, false, `${said}; ${share} takes no requests`);
  }
  if (health === 'unhealthy') return explained(host, false, said);
  const percent = (health === 'degraded' ? loads.degraded : loads.healthy)[priority] ?? 0;
  if (percent === 0) {
    const why = health === 'degraded' ? 'healthy hosts take all' : `${share} takes no requests`;
    return explained(host, false, `${said}; ${why}`);
  }
  if (host.weight === 0) return explained(host, false, `${said}; its weight is 0`);
  return explained(host, true, `${said}; ${share} takes ${percent} % by its ${health} hosts`);
}

function explained(host: UpstreamHost, mayBeChosen: boolean, why: string): ExplainedHost {
  const { region, zone, subZone, weight } = host;
  return {
    address: host.address,
    mayBeChosen,
    why,
    priority: host.resource.priority,
    weight,
    locality: [region, zone, subZone].filter((part) => part !== '').join('/'),
  };
}
