/** Makes texts of one character per byte valid UTF-8, byte by byte, as Envoy does. */
import { isUtf8 } from 'node:buffer';

/** Each byte that belongs to no character becomes `replacement`. */
export function repairUtf8(text: string, replacement: string): string {
  // oxlint-disable-next-line no-control-regex -- a range of bytes
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  if (isUtf8(bytes)) return text;
  let repaired = '';
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes[at] ?? 0);
    const isWhole = length > 0 && isUtf8(bytes.subarray(at, at + length));
    repaired += isWhole ? text.slice(at, at + length) : replacement;
    at += isWhole ? length : 1;
  }
  return repaired;
}

/** By the first byte; 0 where no character begins. */
function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}
