/** What became of a request's headers between two moments. */
import type { ExplainedChange } from '../../shared/explain/explanation.ts';
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

/** By name, removed ones first. */
export function changesBetween(
  before: HeaderSnapshot,
  after: HeaderSnapshot,
): readonly ExplainedChange[] {
  const changes: ExplainedChange[] = [];
  for (const [name, value] of before) {
    const now = after.get(name);
    if (now === undefined) changes.push({ name, before: value });
    else if (now !== value) changes.push({ name, before: value, after: now });
  }
  for (const [name, value] of after) {
    if (!before.has(name)) changes.push({ name, after: value });
  }
  return changes;
}
