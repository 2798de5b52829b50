/** What the problems of a file mean to the one who brings it: one word, and what it would lose. */
import { isError, isReadable } from '../config/follow-up.ts';
import { formatPlace, type Problem } from '../config/problem.ts';

/** From best to worst. */
export const VERDICTS = ['ok', 'loses', 'unsupported', 'invalid', 'unreadable'] as const;

/**
 * - `ok`: served as written;
 * - `loses`: served, but something in it has no effect;
 * - `unsupported`: refused only for what Sluice does not have;
 * - `invalid`: it has mistakes;
 * - `unreadable`: it cannot be read at all.
 */
export type Verdict = (typeof VERDICTS)[number];

export function verdictOf(problems: readonly Problem[]): Verdict {
  const errors = problems.filter(isError);
  if (errors.length === 0) return problems.some(hasNoEffect) ? 'loses' : 'ok';
  if (!isReadable(errors)) return 'unreadable';
  return errors.every(isUnsupported) ? 'unsupported' : 'invalid';
}

/**
 * The features that would be missing, each once: the full name of an extension's message, or a
 * field without the indices of its lists.
 */
export function lossesOf(problems: readonly Problem[]): readonly string[] {
  const lost = problems.filter((problem) => isUnsupported(problem) || hasNoEffect(problem));
  return [...new Set(lost.map(featureOf))].sort();
}

function isUnsupported({ rule }: Problem): boolean {
  return rule === 'unsupported' || rule === 'unsupported_platform';
}

function hasNoEffect({ rule }: Problem): boolean {
  return rule === 'no_effect' || rule === 'skipped';
}

function featureOf({ message, place }: Problem): string {
  const type = /of type '([^']+)'/.exec(message)?.[1];
  return type ?? formatPlace(place).replaceAll(/\[\d+\]/g, '');
}
