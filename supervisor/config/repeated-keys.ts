/** What is said of keys that stand twice in one map: a warning or an error that names both places. */
import type { Problem } from './problem.ts';
import { positionOf, type SourceDocument } from './source/source-document.ts';
import type { SourceFormat } from './source/source-format.ts';
import type { ParsedSource } from './source/source-node.ts';

/** So many are told; to find where each of a million stands would take hours. */
const TOLD_MAX = 1000;

export function repeatedKeys(
  { problems, format }: Pick<ParsedSource, 'problems'> & { readonly format: SourceFormat },
  document: SourceDocument,
  { refusesRepeatedKeys: isRefused = false }: { readonly refusesRepeatedKeys?: boolean },
): readonly { readonly problem: Problem; readonly offset: number }[] {
  const told = problems.filter(({ earlierOffset }) => earlierOffset !== undefined);
  return told.slice(0, TOLD_MAX).map(({ message, rule, offset, earlierOffset = 0 }) => {
    const { source, line, column } = positionOf(document, earlierOffset);
    const first = `${source}:${line}:${column}`;
    const severity = isRefused ? 'error' : 'warning';
    const text = `${message}${isRefused ? `, which stands at ${first} too` : effectOf(format, first)}`;
    return { problem: { severity, place: undefined, rule, message: text }, offset };
  });
}

/** What Envoy makes of it, which is another thing in each format. */
function effectOf(format: SourceFormat, first: string): string {
  return format === 'yaml'
    ? `: the last one counts, and what stands at ${first} has no effect`
    : `: lists and messages are joined with those at ${first}, of other values the last one counts`;
}
