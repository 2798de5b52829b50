/** Prints a certificate's names in the form of RFC 2253, as access logs and headers show them. */

/**
 * `lines` is node:crypto's form: an attribute per line, multi-valued ones joined by ` + `. The result
 * has the last attribute first, with special characters escaped.
 */
export function distinguishedName(lines: string): string {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map(escapeAttribute)
    .reverse()
    .join(',');
}

function escapeAttribute(line: string): string {
  const equals = line.indexOf('=');
  const value = unescapeNode(line.slice(equals + 1));
  const escaped = value
    .replace(/[,+"\\<>;]/g, '\\$&')
    .replace(/^[ #]/, '\\$&')
    .replace(/ $/, '\\ ');
  return `${line.slice(0, equals + 1)}${escaped}`;
}

/** node:crypto escapes special characters with a backslash already. */
function unescapeNode(value: string): string {
  return value.replace(/\\([,+"\\<>; #])/g, '$1');
}
