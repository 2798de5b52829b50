/** The header `grpc-message`: everything outside printable ASCII, and `%`, is written as `%XX`. */

export function grpcMessageOf(body: Buffer): string {
  let text = '';
  for (const byte of body) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    text += isPlain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}
