/**
 * Why a host is not simply healthy: one bit per source and reason, and what they mean together. The
 * supervisor sets the bits; workers and `/clusters` read them.
 */
import type { HostHealth, HostResource } from './cluster.ts';

/** In the order in which `/clusters` prints them. */
const HEALTH_FLAGS = [
  'failed_active_hc',
  'failed_outlier_check',
  'failed_eds_health',
  'degraded_active_hc',
  'degraded_eds_health',
  'pending_dynamic_removal',
  'pending_active_hc',
  'excluded_via_immediate_hc_fail',
  'active_hc_timeout',
  'eds_status_draining',
  'degraded_outlier_detection',
] as const;
export type HealthFlag = (typeof HEALTH_FLAGS)[number];

export const HEALTH_BITS = Object.fromEntries(
  HEALTH_FLAGS.map((flag, position) => [flag, 1 << position]),
) as Readonly<Record<HealthFlag, number>>;

/** The bits that active checks decide. */
export const ACTIVE_CHECK_BITS =
  HEALTH_BITS.failed_active_hc |
  HEALTH_BITS.pending_active_hc |
  HEALTH_BITS.degraded_active_hc |
  HEALTH_BITS.active_hc_timeout |
  HEALTH_BITS.excluded_via_immediate_hc_fail;

const EXCLUDED_BITS =
  HEALTH_BITS.excluded_via_immediate_hc_fail |
  HEALTH_BITS.pending_active_hc |
  HEALTH_BITS.eds_status_draining;

const UNHEALTHY_BITS =
  HEALTH_BITS.failed_active_hc |
  HEALTH_BITS.failed_outlier_check |
  HEALTH_BITS.failed_eds_health |
  HEALTH_BITS.eds_status_draining;
const DEGRADED_BITS =
  HEALTH_BITS.degraded_active_hc |
  HEALTH_BITS.degraded_eds_health |
  HEALTH_BITS.degraded_outlier_detection;

/** One failed source is enough; degraded counts only for a host that nothing fails. */
export function healthOf(bits: number): HostHealth {
  if ((bits & UNHEALTHY_BITS) !== 0) return 'unhealthy';
  return (bits & DEGRADED_BITS) !== 0 ? 'degraded' : 'healthy';
}

/** Whether how many hosts are well is seen against this one; in panic any host is asked. */
export function isCounted({ healthBits = 0 }: Pick<HostResource, 'healthBits'>): boolean {
  return (healthBits & EXCLUDED_BITS) === 0;
}

export function flagsOf(bits: number): readonly HealthFlag[] {
  return HEALTH_FLAGS.filter((flag) => (bits & HEALTH_BITS[flag]) !== 0);
}
