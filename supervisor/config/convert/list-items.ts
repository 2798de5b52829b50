/** The items of a list field, with the liberties of Envoy's reader. */
import type { FieldType } from '../api/api-catalog.ts';
import type { SourceNode } from '../source/source-node.ts';

/** Lists in a list are read as one, unless lists are what it holds. */
function innerItems(field: FieldType, item: SourceNode): readonly SourceNode[] {
  const type = field.descriptor.type;
  const holdsLists = type === 'google.protobuf.Value' || type === 'google.protobuf.ListValue';
  return item.kind === 'list' && !holdsLists
    ? item.items.flatMap((inner) => innerItems(field, inner))
    : [item];
}

export function flatItems(field: FieldType, items: readonly SourceNode[]): readonly SourceNode[] {
  return items.some(({ kind }) => kind === 'list')
    ? items.flatMap((item) => innerItems(field, item))
    : items;
}
