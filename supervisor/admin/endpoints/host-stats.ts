/** Names and kinds of the statistics that `/clusters` shows of each host. */
import type { HostStats } from '../admin-context.ts';

/** In the order of the JSON page: counters first, then gauges. */
export const HOST_COUNTERS = [
  'cx_connect_fail',
  'cx_total',
  'rq_error',
  'rq_success',
  'rq_timeout',
  'rq_total',
] as const satisfies readonly (keyof HostStats)[];
export const HOST_GAUGES = [
  'cx_active',
  'rq_active',
  'rq_pending_active',
] as const satisfies readonly (keyof HostStats)[];

export function hostStatEntries(stats: HostStats): (readonly [string, number])[] {
  return [...HOST_COUNTERS, ...HOST_GAUGES].map((name) => [name, stats[name]] as const);
}
