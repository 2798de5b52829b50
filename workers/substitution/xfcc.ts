/**
 * Reads `x-forwarded-client-cert`: elements between commas, pairs between semicolons, quoted
 * values.
 */

/** The first value of `key` (lower case) in any element; undefined when none has it. */
export function xfccValue(header: string, key: string): string | undefined {
  let position = 0;
  while (position < header.length) {
    const end = partEnd(header, position);
    if (end < 0) return undefined;
    const pair = header.slice(position, end);
    const equals = pair.indexOf('=');
    if (equals >= 0 && pair.slice(0, equals).trim().toLowerCase() === key) {
      return unquote(pair.slice(equals + 1).trim());
    }
    position = end + 1;
  }
  return undefined;
}

/** Where the pair that begins at `start` ends, -1 when a quote is never closed. */
function partEnd(header: string, start: number): number {
  let quoted = false;
  for (let at = start; at < header.length; at += 1) {
    const char = header[at];
    if (char === '\\' && quoted) at += 1;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && (char === ';' || char === ',')) return at;
  }
  return quoted ? -1 : header.length;
}

function unquote(value: string): string {
  if (!value.startsWith('"') || !value.endsWith('"') || value.length < 2) return value;
  return value.slice(1, -1).replace(/\\(.)/g, '$1');
}
