/**
 * Whether a text is an IP address, by the rules of node:net. The runtime's own functions compile a
 * pattern at their first use that took 5 ms of every process's start.
 */

const ZERO = 0x30;
const DOT = 0x2e;
const COLON = 0x3a;
const GROUPS = 8;
/** An IPv4 address at the end stands for two groups. */
const QUAD_GROUPS = 2;
const GROUP_DIGITS = 4;

/** As node:net names it: 4, 6, or 0 when the text is no address. */
export function isIP(text: string): 0 | 4 | 6 {
  if (isIPv4(text)) return 4;
  return isIPv6(text) ? 6 : 0;
}

/** Four numbers up to 255 without leading zeros. */
export function isIPv4(text: string): boolean {
  return isQuad(text, 0, text.length);
}

/** With or without an interface behind `%`. */
export function isIPv6(text: string): boolean {
  const percent = text.indexOf('%');
  if (percent < 0) return areGroups(text, text.length);
  return isZone(text, percent + 1) && areGroups(text, percent);
}

function areGroups(text: string, end: number): boolean {
  let groups = 0;
  let hasGap = false;
  let at = 0;
  if (text.startsWith('::')) {
    hasGap = true;
    at = 2;
  }
  while (at < end) {
    const next = groupEnd(text, at, end);
    if (next < end && text.charCodeAt(next) === DOT) {
      if (!isQuad(text, at, end)) return false;
      groups += QUAD_GROUPS;
      break;
    }
    if (next === at) return false;
    groups += 1;
    at = next;
    if (at === end) break;
    // One colon before a group, two for the gap; a single one at the end belongs to nothing.
    if (text.charCodeAt(at) !== COLON || at + 1 === end) return false;
    at += 1;
    if (text.charCodeAt(at) === COLON) {
      if (hasGap) return false;
      hasGap = true;
      at += 1;
    }
  }
  return hasGap ? groups < GROUPS : groups === GROUPS;
}

/** Behind at most four hexadecimal digits. */
function groupEnd(text: string, start: number, end: number): number {
  const limit = Math.min(end, start + GROUP_DIGITS);
  let at = start;
  while (at < limit && isHexDigit(text.charCodeAt(at))) at += 1;
  return at;
}

function isQuad(text: string, start: number, end: number): boolean {
  let numbers = 0;
  for (let at = start; ; at += 1) {
    const next = byteEnd(text, at, end);
    if (next === at) return false;
    numbers += 1;
    at = next;
    if (numbers === 4) return at === end;
    if (at === end || text.charCodeAt(at) !== DOT) return false;
  }
}

/** Behind a number from 0 to 255; `start` itself where there is none. */
function byteEnd(text: string, start: number, end: number): number {
  let value = 0;
  let at = start;
  while (at < end && isDigit(text.charCodeAt(at))) {
    value = value * 10 + text.charCodeAt(at) - ZERO;
    at += 1;
    if (value > 255 || (at - start > 1 && text.charCodeAt(start) === ZERO)) return start;
  }
  return at;
}

function isZone(text: string, start: number): boolean {
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
    if (!isLetter && !isDigit(code) && code !== 0x2d && code !== DOT && code !== COLON)
      return false;
  }
  return start < text.length;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39;
}

function isHexDigit(code: number): boolean {
  return isDigit(code) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66);
}
