/** Letter case of byte strings: only ASCII letters have any. */

// oxlint-disable-next-line no-control-regex -- the range of ASCII begins at NUL
const ASCII = /^[\x00-\x7f]*$/;

/** Lower case of A to Z; every other byte as it is. */
export function asciiLower(text: string): string {
  const lower = text.toLowerCase();
  if (lower === text || ASCII.test(text)) return lower;
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
