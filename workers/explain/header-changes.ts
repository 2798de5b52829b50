/** What became of a request's headers between two moments. */
import type { ExplainedChange } from '../../shared/explain/explanation.ts';
import { isSecretHeader, REDACTED } from '../../shared/text/secret-names.ts';
import type { HeaderMap } from '../stream/header-map.ts';

const PSEUDO = [':method', ':scheme', ':authority', ':path'] as const;

export type HeaderSnapshot = ReadonlyMap<string, string>;

/** Values of one name are joined. */
export function snapshotOf(headers: HeaderMap): HeaderSnapshot {
  const snapshot = new Map<string, string>();
  for (const name of PSEUDO) snapshot.set(name, headers.get(name) ?? '');
  for (let at = 0; at < headers.entries.length; at += 2) {
    const name = headers.entries[at] ?? '';
    if (!snapshot.has(name)) snapshot.set(name, headers.getAll(name) ?? '');
  }
  return snapshot;
}

/** By name, removed ones first; values of headers with credentials are hidden. */
export function changesBetween(
  before: HeaderSnapshot,
  after: HeaderSnapshot,
): readonly ExplainedChange[] {
  const changes: ExplainedChange[] = [];
  for (const [name, value] of before) {
    const now = after.get(name);
    if (now === undefined) changes.push({ name, before: shown(name, value) });
    else if (now !== value) {
      changes.push({ name, before: shown(name, value), after: shown(name, now) });
    }
  }
  for (const [name, value] of after) {
    if (!before.has(name)) changes.push({ name, after: shown(name, value) });
  }
  return changes;
}

const shown = (name: string, value: string): string => (isSecretHeader(name) ? REDACTED : value);
