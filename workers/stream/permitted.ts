/**
 * What RFC 9110 and RFC 3986 permit in the parts of a message's head, as text of one character per
 * byte. Parsers and the door of outgoing messages ask the same questions.
 */
import { headerName } from './header-names.ts';

/**
 * A control character, or one that is no single byte: cut to eight bits, U+010A is a line feed.
 * Bytes above 127 are permitted; peers send them.
 */
// oxlint-disable-next-line no-control-regex
const UNFIT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const AUTHORITY = /^[A-Za-z0-9\-._~%!$&'()*+,;=:[\]@]+$/;
const VISIBLE = /^[\x21-\x7e]+$/;
const LENGTH = /^[0-9]{1,16}$/;

/** True for characters that a request's authority may have. */
export function isAuthority(text: string): boolean {
  return AUTHORITY.test(text);
}

/** True for characters that a request's target may have: no blank, nothing outside of ASCII. */
export function isTarget(text: string): boolean {
  return VISIBLE.test(text);
}

export function isContentLength(value: string): boolean {
  return LENGTH.test(value);
}

/**
 * Whether a field that did not come through a parser may leave as it is. How long a body is and how
 * it is coded decides where the next message begins: a length is a number, the coding is the
 * codec's.
 */
export function isFitField(name: string, value: string): boolean {
  const known = headerName(name);
  return known !== undefined && isFitValue(known.name, value);
}

/** The same of a name that is known to be one, in lower case. */
export function isFitValue(name: string, value: string): boolean {
  if (UNFIT_IN_VALUE.test(value)) return false;
  return name === 'content-length' ? LENGTH.test(value) : name !== 'transfer-encoding';
}
