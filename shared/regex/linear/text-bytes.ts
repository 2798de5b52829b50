/** The text that is being matched, as bytes: tables are read faster by bytes than by characters. */

/** Kept for the next text; longer texts get bytes of their own. */
const KEPT_BYTES = 128 * 1024;

let kept: Buffer | undefined;

/** Valid until the next call; only the first `text.length` bytes are the text's. */
export function bytesOf(text: string): Uint8Array {
  const { length } = text;
  if (length > KEPT_BYTES) return Buffer.from(text, 'latin1');
  kept ??= Buffer.allocUnsafeSlow(KEPT_BYTES);
  kept.write(text, 'latin1');
  return kept;
}
