/**
 * One text that configuration came from, and how places in the message that was made from it are
 * found in the text again. Where several texts were merged, later lists stand behind earlier ones.
 */
import type { Place, SourcePosition } from '../problem.ts';
import { type SourceEntry, type SourceNode, lineAndColumn } from './source-node.ts';

export interface SourceDocument {
  /** A file's path as it was given, or an option such as `--config-yaml`. */
  readonly name: string;
  readonly text: string;
  /** Undefined for formats that keep no positions, and for texts that could not be read. */
  readonly root: SourceNode | undefined;
}

interface Candidate {
  readonly document: SourceDocument;
  readonly node: SourceNode;
  /** Where the entry that holds the node begins; the node's own start for list items. */
  readonly offset: number;
}

/** The position of an offset in a document. */
export function positionOf(document: SourceDocument, offset: number): SourcePosition {
  return { source: document.name, ...lineAndColumn(document.text, offset) };
}

/**
 * Finds where a place stands: its own value, or the nearest message around it when it is absent.
 * Undefined when no document has positions.
 */
export function locatePlace(
  documents: readonly SourceDocument[],
  place: Place | undefined,
): SourcePosition | undefined {
  let candidates: Candidate[] = [];
  for (const document of documents) {
    if (document.root !== undefined) {
      candidates.push({ document, node: document.root, offset: document.root.offset });
    }
  }
  for (const key of stepsOf(place)) {
    const next = typeof key === 'number' ? atIndex(candidates, key) : atKey(candidates, key);
    if (next.length === 0) {
      break;
    }
    candidates = next;
  }
  const last = candidates.at(-1);
  return last === undefined ? undefined : positionOf(last.document, last.offset);
}

function stepsOf(place: Place | undefined): (string | number)[] {
  const steps: (string | number)[] = [];
  for (let step = place; step !== undefined; step = step.parent) {
    steps.unshift(step.key);
  }
  return steps;
}

function atKey(candidates: readonly Candidate[], key: string): Candidate[] {
  return candidates.flatMap(({ document, node }) => {
    const entry = findEntry(node, key) ?? findMapEntry(node, key);
    return entry === undefined
      ? []
      : [{ document, node: entry.value, offset: offsetOf(entry.value, entry.keyOffset) }];
  });
}

function findEntry(node: SourceNode, key: string): SourceEntry | undefined {
  if (node.kind !== 'map') {
    return undefined;
  }
  return (
    node.entries.findLast((entry) => entry.key === key) ??
    node.entries.findLast((entry) => toSnakeCase(entry.key) === key)
  );
}

/** In the text format a map is a list of entries with a `key` and a `value`. */
function findMapEntry(node: SourceNode, key: string): SourceEntry | undefined {
  const items = node.kind === 'list' ? node.items : [node];
  const item = items.find((entry) => {
    const value = findEntry(entry, 'key')?.value;
    return value?.kind === 'string' && value.value === key;
  });
  return item === undefined ? undefined : findEntry(item, 'value');
}

/** Scalars are named where they stand; messages and lists by their key. */
function offsetOf(value: SourceNode, keyOffset: number): number {
  return value.kind === 'map' || value.kind === 'list' ? keyOffset : value.offset;
}

function atIndex(candidates: readonly Candidate[], index: number): Candidate[] {
  let before = 0;
  for (const candidate of candidates) {
    const { node, document } = candidate;
    const items = node.kind === 'list' ? node.items : [node];
    const item = items[index - before];
    if (item !== undefined) {
      return [{ document, node: item, offset: item.offset }];
    }
    before += items.length;
  }
  return [];
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
