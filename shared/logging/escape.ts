/** The three ways in which log text is escaped. */

/** `%_`: line ends only. */
export function escapeNewlines(text: string): string {
  return text.includes('\n') ? text.replaceAll('\n', '\\n') : text;
}

/** `%j`: as inside a JSON string (RFC 7159), without the quotes. */
export function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
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
