/** Files of AWS's tools: sections in brackets, `key = value` below them. */

/** Keys in lower case; the first of two counts. */
export function iniSection(text: string, section: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let isInside = false;
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#') || trimmed.startsWith(';')) continue;
    if (trimmed.startsWith('[')) {
      const end = trimmed.indexOf(']');
      isInside = end !== -1 && trimmed.slice(1, end).trim() === section;
      continue;
    }
    const equals = trimmed.indexOf('=');
    if (!isInside || equals === -1) continue;
    const key = trimmed.slice(0, equals).trim().toLowerCase();
    if (!values.has(key)) values.set(key, trimmed.slice(equals + 1).trim());
  }
  return values;
}
