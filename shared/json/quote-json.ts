/** JSON string literals with protobuf's escapes. Owns nothing but this text form. */

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
};

// Besides what JSON demands, protobuf escapes angle brackets (so that a page read as HTML stays
// text) and invisible code points.
const MUST_ESCAPE =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- code point ranges
  /["\\<>\u0000-\u001f\u007f-\u009f\u00ad\u0600-\u0603\u06dd\u070f\u17b4\u17b5\u200b-\u200f\u2028-\u202e\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0001}\u{e0020}-\u{e007f}]/gu;

/** What most texts are made of. */
const PLAIN = /^[ !#-;=?-[\]-~]*$/;

export function quoteJson(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return `"${text.replace(MUST_ESCAPE, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  const short = SHORT_ESCAPES[character];
  if (short !== undefined) return short;
  let escaped = '';
  for (let unit = 0; unit < character.length; unit++) {
    escaped += `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}
