/** Whether a host that a request names may be taken, as it is known now. */
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import { HEALTH_BITS } from '../../../shared/resources/clusters/host-health.ts';
import type { NamedHostStatus } from '../../../shared/resources/clusters/lb-policy.ts';

const FAILED = HEALTH_BITS.failed_active_hc | HEALTH_BITS.failed_outlier_check;

/** Without `statuses` any host that is not unhealthy. */
export function mayBeNamed(
  host: HostResource,
  statuses: readonly NamedHostStatus[] | undefined,
): boolean {
  return statuses === undefined ? host.health !== 'unhealthy' : statuses.includes(statusOf(host));
}

/** What checks and outlier detection found goes before what the configuration says. */
function statusOf({ healthBits = 0, configuredHealth }: HostResource): NamedHostStatus {
  if ((healthBits & FAILED) !== 0) return 'UNHEALTHY';
  if (configuredHealth !== undefined && configuredHealth !== 'DEGRADED') return configuredHealth;
  if ((healthBits & HEALTH_BITS.degraded_active_hc) !== 0) return 'DEGRADED';
  return configuredHealth ?? 'HEALTHY';
}
