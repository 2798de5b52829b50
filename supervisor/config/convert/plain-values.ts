/** Reads what has no type of its own: google.protobuf.Value, Struct and ListValue. */
import { type Place, at } from '../problem.ts';
import type { SourceMap, SourceNode } from '../source/source-node.ts';
import type { MessageReader } from './message-reader.ts';
import { type MessageObject, setKey } from './message-object.ts';
import { refusesRepeats } from './repeated-keys.ts';

/** What a google.protobuf.Value holds. */
export function plainValue(
  reader: MessageReader,
  node: SourceNode,
  place: Place | undefined,
): unknown {
  switch (node.kind) {
    case 'map':
      return plainObject(reader, node, place);
    case 'list':
      return node.items.map((item, index) => plainValue(reader, item, at(place, index)));
    case 'number':
      return Number(node.value);
    default:
      return node.value;
  }
}

/** Undefined after a reported fault. */
export function plainObject(
  reader: MessageReader,
  node: SourceMap,
  place: Place | undefined,
): MessageObject | undefined {
  if (refusesRepeats(reader, node, place)) return undefined;
  const object: MessageObject = {};
  for (const { key, value } of node.entries) {
    setKey(object, key, plainValue(reader, value, at(place, key)));
  }
  return object;
}
