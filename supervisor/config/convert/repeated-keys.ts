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
  const joined = new Map<unknown, Repeated>();
  for (const [index, entry] of node.entries.entries()) {
    const field = type.field(entry.key);
    // A oneof is set once, whatever its type.
    const mayRepeat = field !== undefined && field.descriptor.oneof === undefined;
    const identity = mayRepeat ? field.name : index;
    const earlier = joined.get(identity);
    if (earlier === undefined) joined.set(identity, { entry, field, values: [entry.value] });
    else if (entry.value.kind !== 'null') {
      earlier.entry = entry;
      earlier.values.push(entry.value);
    }
  }
  return Array.from(joined.values(), ({ entry, field, values }) =>
    field === undefined || values.length === 1
      ? entry
      : { ...entry, value: joinValues(field, values) },
  );
}

/** A key, as it stands last, with all its values. */
interface Repeated {
  entry: SourceEntry;
  readonly field: FieldType | undefined;
  readonly values: SourceNode[];
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

/** All at once: there may be as many as a configuration is long. */
function joinValues(field: FieldType, values: readonly SourceNode[]): SourceNode {
  const set = values.filter(({ kind }) => kind !== 'null');
  const last = set.at(-1) ?? NOTHING;
  if (set.length === 1) return last;
  if (field.isList) return { kind: 'list', items: set.flatMap(itemsOf), offset: last.offset };
  if (field.kind !== 'message' && !field.isMap) return last;
  // What is no map takes the place of everything before it.
  const behind = set.slice(set.findLastIndex(({ kind }) => kind !== 'map') + 1);
  if (behind.length < 2) return last;
  const entries = behind.flatMap((each) => (each.kind === 'map' ? each.entries : []));
  return { kind: 'map', entries, offset: last.offset, hasRepeats: true };
}

const NOTHING: SourceNode = { kind: 'null', value: null, offset: 0 };

function itemsOf(node: SourceNode): readonly SourceNode[] {
  return node.kind === 'list' ? node.items : [node];
}
