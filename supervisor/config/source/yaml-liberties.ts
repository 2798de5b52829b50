/**
 * Takes liberties that Envoy's YAML reader takes and the YAML library refuses: an item left
 * out of a flow list is a null, and a flow collection or quoted text may stand at the column of the
 * key that it belongs to. Works on the library's tokens; no offset changes.
 */
import { CST } from 'yaml';

type Items = CST.CollectionItem[];

/** Changes and returns the token, which may be that of a document or of anything else. */
export function takeLiberties(token: CST.Token): CST.Token {
  if (token.type !== 'document') return token;
  CST.visit(token, ({ key, value }) => {
    for (const inner of [key, value]) {
      if (inner?.type === 'flow-collection' && inner.start.source === '[') {
        inner.items = inner.items.flatMap((item, index) => withLeftOutItems(item, index === 0));
      } else if (inner?.type === 'block-map') {
        inner.items = withValuesBelow(inner.items);
      }
    }
  });
  return token;
}

/**
 * Before its value an item holds all commas that come after the item before it: one, but for the
 * first.
 */
function withLeftOutItems(item: CST.CollectionItem, isFirst: boolean): Items {
  const starts: CST.SourceToken[][] = [[]];
  let commas = isFirst ? 1 : 0;
  for (const token of item.start) {
    if (token.type === 'comma' && ++commas > 1) starts.push([]);
    starts.at(-1)?.push(token);
  }
  const last = starts.pop() ?? [];
  return [...starts.map((start) => ({ start, value: nothing(item) })), { ...item, start: last }];
}

function nothing(item: CST.CollectionItem): CST.FlowScalar {
  return { type: 'scalar', offset: item.start[0]?.offset ?? 0, indent: -1, source: '' };
}

/** Tokens that no plain word begins like. */
const MARKED_TYPES: ReadonlySet<CST.Token['type']> = new Set([
  'flow-collection',
  'single-quoted-scalar',
  'double-quoted-scalar',
]);

/** The library takes what stands at a key's own column for a key. */
function withValuesBelow<Item extends CST.CollectionItem>(items: readonly Item[]): Item[] {
  const kept: Item[] = [];
  for (const item of items) {
    const before = kept.at(-1);
    const isOpen = before !== undefined && hasColon(before) && before.value === undefined;
    const { key } = item;
    if (isOpen && key != null && MARKED_TYPES.has(key.type) && !hasColon(item)) {
      before.value = key;
    } else {
      kept.push(item);
    }
  }
  return kept;
}

function hasColon({ sep = [] }: CST.CollectionItem): boolean {
  return sep.some(({ type }) => type === 'map-value-ind');
}
