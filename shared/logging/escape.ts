/** The ways in which log text is escaped. */

/** `%j`: as inside a JSON string (RFC 7159), without the quotes. */
export function escapeJson(text: string): string {
  const quoted = JSON.stringify(text).slice(1, -1);
  // JSON lets these stand, and those who read by line may take them for an end of one.
  return quoted.replace(
    /[\x7f-\x9f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const shortEscapes: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '"': '\\"',
  "'": "\\'",
  '\\': '\\\\',
};

/** `--log-format-escaped`: as in a C string literal; bytes outside of ASCII in octal. */
export function escapeC(text: string): string {
  // Everything but printable ASCII, and of that the two quotes and the backslash.
  return text.replace(/[^ !#-&(-[\]-~]/gu, (character) => {
    return (
      shortEscapes[character] ??
      [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
    );
  });
}

/**
 * `%v`, `%_` and `%+`, as messages quote peers: what would end the line or move a terminal's cursor,
 * by its number. `text` has characters, not bytes.
 */
export function escapeControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/g, (character) => {
    const code = character.charCodeAt(0);
    return (
      shortEscapes[character] ??
      (code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`)
    );
  });
}
