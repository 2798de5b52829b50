/**
 * Tells mistakes of their own from those that only follow from earlier ones: a field with a
 * misspelt name is also a field that is missing, and a cluster that was refused is one that nothing
 * finds.
 */
import { formatPlace, type Problem } from './problem.ts';

export function isError(problem: Problem): boolean {
  return problem.severity === 'error';
}

/** `later` without what `earlier` explains already. */
export function withoutEchoes(
  later: readonly Problem[],
  earlier: readonly Problem[],
): readonly Problem[] {
  const errors = earlier.filter(isError);
  if (errors.length === 0) return later;
  const places = errors.map(({ place }) => formatPlace(place));
  return later.filter((problem) => {
    if (problem.rule === 'reference') return false;
    const place = formatPlace(problem.place);
    return !places.some((other) => isWithin(place, other) || isWithin(other, place));
  });
}

/** A text that could not be read at all has no message to look at. */
export function isReadable(problems: readonly Problem[]): boolean {
  return !problems.some((problem) => /^(yaml|json|text|binary|source)\./.test(problem.rule));
}

/**
 * Whether an item of a list could not be read: readers of the message do not expect that.
 */
export function hasHoles(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((item) => item === undefined || hasHoles(item));
}

function isWithin(inner: string, outer: string): boolean {
  if (!inner.startsWith(outer)) return false;
  const next = inner.charAt(outer.length);
  return outer === '' || next === '' || next === '.' || next === '[';
}
