/** About how much a script's values hold, counted from its globals. */
import { LuaTable } from './lua-table.ts';
import { LuaFunction } from './values.ts';

const ENTRY_BYTES = 24;
const OBJECT_BYTES = 96;

/** Stops where it is more than `limit`. */
export function retainedBytes(root: LuaTable, limit: number): number {
  const seen = new Set<unknown>([root]);
  const waiting: unknown[] = [root];
  let bytes = 0;
  const visit = (value: unknown): void => {
    if (typeof value === 'string') bytes += value.length;
    else if (typeof value === 'object' && value !== null && !seen.has(value)) {
      seen.add(value);
      waiting.push(value);
    }
  };
  while (waiting.length > 0 && bytes <= limit) {
    const value = waiting.pop();
    bytes += OBJECT_BYTES;
    if (value instanceof LuaTable) {
      bytes += value.size * ENTRY_BYTES;
      for (const each of value.contents()) visit(each);
    } else if (value instanceof LuaFunction) for (const each of value.held) visit(each);
    // A variable that several closures share.
    else if (isCell(value)) visit(value.v);
  }
  return bytes;
}

function isCell(value: unknown): value is { readonly v: unknown } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'v');
}
