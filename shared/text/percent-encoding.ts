/** Percent-encoding as Envoy does it; texts have one character per byte. */

const NOT_UNRESERVED = /[^\w.~-]/g;
const ESCAPE = /%([\da-fA-F]{2})/g;

function escaped(character: string): string {
  const hex = character.charCodeAt(0).toString(16).toUpperCase();
  return `%${hex.padStart(2, '0')}`;
}

/** Everything but letters, digits and `-_.~`. */
export function urlEncode(text: string): string {
  return text.replace(NOT_UNRESERVED, escaped);
}

/** For a value of a form: what separates its parts, and what cannot be printed. A blank stays. */
// oxlint-disable-next-line no-control-regex -- Control characters are what is looked for.
const NOT_IN_FORMS = /[\x00-\x1f\x7f-\xff%:/=&?+]/g;

export function encodeFormValue(text: string): string {
  return text.replace(NOT_IN_FORMS, escaped);
}

/** What is no escape stays. */
export function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
