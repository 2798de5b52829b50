/**
 * Help texts of statistics that no template declares: they come to be when they are first counted,
 * under names that traffic or the configuration gives.
 */
import type { StatKind } from '../../../shared/stats/template.ts';

/** By the end of the name without its tags. */
const TEXTS: readonly (readonly [end: string, help: string])[] = [
  ['upstream_rq', 'Answers, by code'],
  ['upstream_rq_xx', 'Answers, by class of code'],
  ['upstream_rq_completed', 'Answers'],
  ['upstream_rq_time', 'Time from a request to its answer'],
  ['main_thread.blocked', 'Turns of the supervisor that took long'],
  ['main_thread.blocked_p50_ms', 'Median delay of the supervisor'],
  ['main_thread.blocked_p99_ms', 'Delay of the supervisor that one turn in a hundred exceeds'],
  ['main_thread.blocked_max_ms', 'Longest delay of the supervisor'],
];

/** Never empty and without anything to escape. */
export function namedHelp(kind: StatKind, name: string): string {
  const known = TEXTS.find(([end]) => name === end || name.endsWith(`.${end}`));
  return known?.[1] ?? `A ${kind.replace('_', ' ')} that appears by name`;
}
