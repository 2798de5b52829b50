/**
 * Help texts of statistics that no template declares: they come to be when they are first counted,
 * under names that traffic or the configuration gives.
 */
import type { StatKind } from '../../../shared/stats/template.ts';

/** By the end of the name without its tags. */
const TEXTS: readonly (readonly [end: string, help: string])[] = [
  ['upstream_rq', 'Answers, by code'],
  ['upstream_rq_xx', 'Answers, by class of code'],
  ['downstream_rq_xx', 'Answers, by class of code'],
  ['upstream_rq_completed', 'Answers'],
  ['upstream_rq_time', 'Time from a request to its answer'],
  ['main_thread.blocked', 'Turns of the supervisor that took long'],
  ['main_thread.blocked_p50_ms', 'Median delay of the supervisor'],
  ['main_thread.blocked_p99_ms', 'Delay of the supervisor that one turn in a hundred exceeds'],
  ['main_thread.blocked_max_ms', 'Longest delay of the supervisor'],
];

/** For a metric that several statistics of a template are: the text that fits all of them. */
export function sharedHelp(name: string): string | undefined {
  return TEXTS.find(([end]) => name === end || name.endsWith(`.${end}`))?.[1];
}

/** Never empty and without anything to escape. */
export function namedHelp(kind: StatKind, name: string): string {
  return sharedHelp(name) ?? `A ${kind.replace('_', ' ')} that appears by name`;
}
