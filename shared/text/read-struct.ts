/**
 * Reads JSON from outside as google.protobuf.Struct, as Envoy's reader does: an object whose names
 * are unique, whose numbers are finite, and which is not nested too deep. `null` is an empty one.
 */
import { isUtf8 } from 'node:buffer';
import { dictionary, type Struct } from './dictionary.ts';

/** Objects and lists inside of each other. */
const NESTING_MAX = 100;

/** Thrown within this file alone. */
class WrongJson extends Error {}

/** Undefined when it is none. */
export function readStruct(bytes: Buffer): Struct | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString();
  try {
    const value = JSON.parse(text) as unknown;
    if (value === null) return dictionary();
    if (typeof value !== 'object' || Array.isArray(value)) return undefined;
    const copier = new Copier();
    const struct = copier.object(value, 1);
    // The parser has kept one of two members of the same name.
    return copier.members === colonsOf(text) ? struct : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof WrongJson) return undefined;
    throw error;
  }
}

class Copier {
  members = 0;

  object(value: object, depth: number): Struct {
    if (depth > NESTING_MAX) throw new WrongJson();
    const made = dictionary<unknown>();
    for (const [key, member] of Object.entries(value)) {
      this.members++;
      made[key] = this.#value(member, depth + 1);
    }
    return made;
  }

  #value(value: unknown, depth: number): unknown {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new WrongJson();
    if (typeof value !== 'object' || value === null) return value;
    if (!Array.isArray(value)) return this.object(value, depth);
    if (depth > NESTING_MAX) throw new WrongJson();
    return value.map((each) => this.#value(each, depth + 1));
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Colons outside of strings: one per member. */
function colonsOf(text: string): number {
  let colons = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInString = !isInString;
    else if (code === BACKSLASH) at++;
    else if (code === COLON && !isInString) colons++;
  }
  return colons;
}
