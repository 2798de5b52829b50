/** Writes text of any length to a transport, which takes long pieces as bytes. */
import type { Transport } from '../net/transport.ts';

/** Longer pieces travel as bytes. */
const TEXT_MAX = 8 * 1024;

/** Latin-1. */
export function writeText(transport: Transport, text: string): void {
  if (text.length <= TEXT_MAX) transport.writeText(text);
  else transport.writeData(Buffer.from(text, 'latin1'));
}
