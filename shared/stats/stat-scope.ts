/**
 * How names that users give stand in the names of statistics. Envoy has three ways, and which one a
 * statistic goes by is a fact of its own (test/conformance/cases/stat-prefixes.ts has them all): a
 * scope changes colons and drops dots at its end, a name of parts only drops the dots, and a prefix
 * stays as it was written, with a dot behind it where it has none.
 */

/**
 * Colons, which would look like the end of a name to readers, become underscores; `://` becomes
 * one.
 */
export function statScope(name: string): string {
  return withoutLastDots(name.replaceAll(/:\/{0,2}|\0/g, '_'));
}

/** A scope as statistics of it begin: with a dot at its end. */
export function scopePrefix(name: string): string {
  return `${statScope(name)}.`;
}

// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/;
const ALL_CONTROLS = new RegExp(CONTROLS, 'g');

/**
 * A statistic's name that is one line wherever it is printed: on pages, and in what sinks send. Envoy
 * lets control characters stand; here the store takes underscores for them.
 */
export function lineOf(name: string): string {
  return CONTROLS.test(name) ? name.replace(ALL_CONTROLS, '_') : name;
}

/** Without the dots at the end of a name. */
export function withoutLastDots(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '.') end--;
  return text.slice(0, end);
}

/** A prefix with a dot behind it, unless it ends in one; nothing for nothing. */
export function dottedPrefix(prefix: string): string {
  return prefix === '' || prefix.endsWith('.') ? prefix : `${prefix}.`;
}
