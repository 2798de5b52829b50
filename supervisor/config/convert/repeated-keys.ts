/**
 * Keys that stand more than once in one JSON object, as Envoy's reader takes them: lists and
 * messages are joined, of other values the last one counts, and keys of maps may not repeat. Of
 * YAML the last one is all that Envoy sees, so that nothing comes here.
 */
import type { FieldType, MessageType } from '../api/api-catalog.ts';
import type { SourceEntry, SourceMap, SourceNode } from '../source/source-node.ts';
import type { Place } from '../problem.ts';
import type { MessageReader } from './message-reader.ts';
import { Invalid } from './scalars.ts';

/** The entries of a message, each field once where that is allowed. */
export function joinRepeats(type: MessageType, node: SourceMap): readonly SourceEntry[] {
  if (node.hasRepeats !== true) return node.entries;
  const joined = new Map<unknown, SourceEntry>();
  for (const [index, entry] of node.entries.entries()) {
    const field = type.field(entry.key);
    // A oneof is set once, whatever its type.
    const mayRepeat = field !== undefined && field.descriptor.oneof === undefined;
    const identity = mayRepeat ? field.name : index;
    const earlier = joined.get(identity);
    if (earlier === undefined) joined.set(identity, entry);
    else if (mayRepeat && entry.value.kind !== 'null') {
      joined.set(identity, { ...entry, value: joinValues(field, earlier.value, entry.value) });
    }
  }
  return [...joined.values()];
}

/** Whether keys of a map stand there twice, which is then reported. */
export function refusesRepeats(
  reader: MessageReader,
  { entries, hasRepeats }: SourceMap,
  place: Place | undefined,
): boolean {
  if (hasRepeats !== true) return false;
  const seen = new Set<string>();
  for (const { key, keyOffset, value } of entries) {
    if (seen.has(key)) {
      const fault = new Invalid(`got unexpectedly-repeated repeated map key: '${key}'`);
      reader.fail(fault, { ...value, offset: keyOffset }, place);
      return true;
    }
    seen.add(key);
  }
  return false;
}

function joinValues(field: FieldType, earlier: SourceNode, later: SourceNode): SourceNode {
  if (earlier.kind === 'null') return later;
  if (field.isList) {
    return { kind: 'list', items: [...itemsOf(earlier), ...itemsOf(later)], offset: later.offset };
  }
  const isJoined = field.kind === 'message' || field.isMap;
  if (!isJoined || earlier.kind !== 'map' || later.kind !== 'map') return later;
  const entries = [...earlier.entries, ...later.entries];
  return { kind: 'map', entries, offset: later.offset, hasRepeats: true };
}

function itemsOf(node: SourceNode): readonly SourceNode[] {
  return node.kind === 'list' ? node.items : [node];
}
