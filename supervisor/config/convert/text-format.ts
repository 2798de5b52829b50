/**
 * Reads protobuf's text format, with protobufjs's own parser. The result is the binary form, so
 * that one decoder makes all normalised messages.
 */
import textformat from 'protobufjs/ext/textformat.js';
import type { ApiCatalog } from '../api/api-catalog.ts';
import { loadApiAround } from './protobuf-root.ts';

/** Throws with the parser's message, which names the line, when the text is no such message. */
export function encodeTextFormat(catalog: ApiCatalog, typeName: string, text: string): Uint8Array {
  const root = loadApiAround(catalog, [typeName, ...typesNamedIn(text)]);
  const type = root.lookupType(typeName);
  return type.encode(textformat.fromText(type, text)).finish();
}

/** What stands as `[type.googleapis.com/name]`. */
function typesNamedIn(text: string): string[] {
  return [...text.matchAll(/\/\s*([A-Za-z0-9_.]+)\s*\]/g)].map((match) => match[1] ?? '');
}
