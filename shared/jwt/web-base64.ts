/** Base64 for the web (RFC 4648, section 5), read as Envoy reads it. */

const BLANKS = /[ \t\n\v\f\r]/g;
const SHAPE = /^([\w-]*)(={0,2})$/;

/** Blanks are skipped, padding may be missing; undefined for everything else that does not fit. */
export function decodeWebBase64(text: string): Buffer | undefined {
  const [, digits, padding] = SHAPE.exec(text) ?? SHAPE.exec(text.replace(BLANKS, '')) ?? [];
  if (digits === undefined || padding === undefined) return undefined;
  const rest = digits.length % 4;
  if (rest === 1) return undefined;
  if (padding !== '' && padding.length !== (4 - rest) % 4) return undefined;
  return Buffer.from(digits, 'base64url');
}
