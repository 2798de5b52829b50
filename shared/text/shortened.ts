/** Texts that quote peers: logs and answers take their beginning. */

/** Characters of a text that nobody reads further. */
const LENGTH_MAX = 16_384;

export function shortened(text: string): string {
  if (text.length <= LENGTH_MAX) return text;
  return `${text.slice(0, LENGTH_MAX)}... (${text.length - LENGTH_MAX} more characters)`;
}
