/** The key of a request's scope: what its headers say, fragment by fragment. */
import type { ScopeKeyFragment } from '../../shared/resources/routes/scoped-routes.ts';
import type { HeaderMap } from '../stream/header-map.ts';

/** Undefined when any fragment is missing: such a request is in no scope. */
export function scopeKeyOf(
  fragments: readonly ScopeKeyFragment[],
  headers: HeaderMap,
): string | undefined {
  const parts: string[] = [];
  for (const fragment of fragments) {
    const value = headers.get(fragment.header);
    const part = value === undefined ? undefined : extract(fragment, value);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return joinScopeKey(parts);
}

/** Headers hold no NUL, so that different keys stay different. */
export function joinScopeKey(parts: readonly string[]): string {
  return parts.join('\0');
}

function extract({ separator, element }: ScopeKeyFragment, value: string): string | undefined {
  const elements = separator === '' ? [value] : value.split(separator);
  if (element.kind === 'index') return elements[element.index];
  for (const each of elements) {
    const end = each.indexOf(element.separator);
    const key = end === -1 ? each : each.slice(0, end);
    if (key === element.key) return end === -1 ? '' : each.slice(end + element.separator.length);
  }
  return undefined;
}
