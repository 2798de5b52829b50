/**
 * Text that peers chose, in lines that are read by line: nothing in it ends the line, moves a
 * terminal's cursor or is not UTF-8. Envoy writes such bytes into text logs as they are; here they
 * are written as `\n`, `\r` and `\xNN`. A backslash stays, and so does a tab. JSON has its own
 * escapes (value.ts).
 */
import { isUtf8 } from 'node:buffer';
import { toByteString } from '../regex/byte-string.ts';

// oxlint-disable-next-line no-control-regex
const UNUSUAL = /[\x00-\x08\x0a-\x1f\x7f-\uffff]/;
const NO_BYTE = /[\u0100-\uffff]/;
/** In UTF-8: control characters of ASCII and of Latin-1, and Unicode's own ends of lines. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]/g;
/** Where bytes are no UTF-8, every one outside of ASCII. */
// oxlint-disable-next-line no-control-regex
const CONTROLS_AND_BYTES = /[\x00-\x08\x0a-\x1f\x7f-\xff]/g;

/** Whether `escapeLogText` may have something to do. */
export function isUnusual(text: string): boolean {
  return UNUSUAL.test(text);
}

/** A byte string again; text that is none is turned into its UTF-8 bytes. */
export function escapeLogText(text: string): string {
  if (!UNUSUAL.test(text)) return text;
  const bytes = NO_BYTE.test(text) ? toByteString(text) : text;
  const isText = isUtf8(Buffer.from(bytes, 'latin1'));
  return bytes.replace(isText ? CONTROLS : CONTROLS_AND_BYTES, escapeBytes);
}

function escapeBytes(bytes: string): string {
  if (bytes === '\n') return '\\n';
  if (bytes === '\r') return '\\r';
  let escaped = '';
  for (let at = 0; at < bytes.length; at++) {
    escaped += `\\x${bytes.charCodeAt(at).toString(16).padStart(2, '0')}`;
  }
  return escaped;
}
