/**
 * Reads protobuf's text format, with protobufjs's own parser over the whole API. The result is the
 * binary form, so that one decoder makes all normalised messages.
 */
import textformat from 'protobufjs/ext/textformat.js';
import { loadWholeApi } from './protobuf-root.ts';

/** Throws with the parser's message, which names the line, when the text is no such message. */
export function encodeTextFormat(typeName: string, text: string): Uint8Array {
  const type = loadWholeApi().lookupType(typeName);
  return type.encode(textformat.fromText(type, text)).finish();
}
