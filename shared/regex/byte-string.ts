/**
 * Texts of the configuration as they stand on the wire: one character per byte of their UTF-8.
 * What comes from a socket is read the same way (latin1), so that both can be compared.
 */

const ASCII = /^[\x20-\x7e]*$/;

export function toByteString(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}
