/** Quoted strings of protobuf's text format. */

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '"': '\\"',
  "'": "\\'",
  '\\': '\\\\',
};

/** `bytes` has one character per byte; what is not ASCII is written in octal. */
export function quoteTextFormat(bytes: string): string {
  const escaped = bytes.replace(
    /[^\x20-\x7e]|["'\\]/g,
    (character) =>
      SHORT_ESCAPES[character] ?? `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `"${escaped}"`;
}
