/**
 * JSON of peers that is gone through, or written again: the runtime reads any nesting, but whatever
 * goes through what it read, its own writer included, needs stack for each level.
 */

/** Far beyond what is meant seriously, far below what the stack holds. */
const JSON_NESTING_MAX = 500;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Brackets and braces differ in one bit. */
const OPENING = 0x5b;
const CLOSING = 0x5d;
const KIND = 0x20;

/** Throws SyntaxError for what is no JSON, or nested too deeply. */
export function parseNested(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`more than ${JSON_NESTING_MAX} levels of JSON`);
  return JSON.parse(text);
}

function isTooDeep(text: string): boolean {
  // Each level has two brackets.
  if (text.length <= 2 * JSON_NESTING_MAX) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if ((code & ~KIND) === CLOSING) depth--;
    else if ((code & ~KIND) === OPENING && ++depth > JSON_NESTING_MAX) return true;
  }
  return false;
}

/** Where the string ends that begins here; the text's end where it does not. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return text.length;
}
