/**
 * Reads JSON into a source tree, with positions and with the liberties that Envoy takes:
 * single quotes, bare keys, a trailing comma, control characters in strings. Comments are refused.
 */
import { JsonSyntaxError, NO_MORE, TOO_MUCH, type FailureForm } from './json-syntax-error.ts';
import { readEscape, readNumber } from './json-tokens.ts';
import {
  DuplicateKeys,
  type ParsedSource,
  type SourceEntry,
  type SourceNode,
} from './source-node.ts';

const maximumDepth = 200;

/** Numbers keep their text. Stops at the first syntax error. */
export function parseJson(text: string): ParsedSource {
  const reader = new JsonReader(text);
  try {
    const root = reader.readDocument();
    return { root, problems: reader.duplicates.problems };
  } catch (error) {
    if (error instanceof JsonSyntaxError) {
      const { message, offset, json } = error;
      return { root: undefined, problems: [{ message, offset, rule: 'json.syntax', json }] };
    }
    throw error;
  }
}

/** So many are looked through faster than a set of them is made. */
const FEW_ENTRIES = 16;
const KNOWN_KEYS = 64;

const ZERO = '0'.charCodeAt(0);
const NINE = '9'.charCodeAt(0);
const POINT = '.'.charCodeAt(0);
const SMALL_E = 'e'.charCodeAt(0);
/** The bit in which small letters differ from capital ones. */
const SMALL = 0x20;

function withKey(entries: readonly SourceEntry[], key: string): SourceEntry | undefined {
  for (const entry of entries) if (entry.key === key) return entry;
  return undefined;
}

class JsonReader {
  readonly duplicates = new DuplicateKeys();
  /** Keys that were met, one for each slot: most of a large text are the same few. */
  readonly #keys: (string | undefined)[] = Array.from({ length: KNOWN_KEYS });
  readonly #text: string;
  /** Keys and indices of the value that is being read. */
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readDocument(): SourceNode {
    const root = this.#readValue(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) {
      this.#fail(TOO_MUCH);
    }
    return root;
  }

  #readValue(depth: number): SourceNode {
    this.#skipSpace();
    const offset = this.#at;
    if (depth > maximumDepth) {
      this.#fail('nested too deeply');
    }
    const first = this.#text[offset];
    switch (first) {
      case undefined:
        return this.#fail(NO_MORE);
      case '{':
        return this.#readMap(depth, offset);
      case '[':
        return { kind: 'list', items: this.#readItems(depth), offset };
      case '"':
      case "'":
        return { kind: 'string', value: this.#readString(first), offset };
      default:
        return this.#readWord(first, offset);
    }
  }

  #readWord(first: string, offset: number): SourceNode {
    if (first === '-' || (first >= '0' && first <= '9')) {
      return { kind: 'number', value: this.#readNumber(), offset };
    }
    for (const [word, node] of [
      ['true', { kind: 'boolean', value: true, offset }],
      ['false', { kind: 'boolean', value: false, offset }],
      ['null', { kind: 'null', value: null, offset }],
    ] as const) {
      if (this.#text.startsWith(word, offset)) {
        this.#at += word.length;
        return node;
      }
    }
    return this.#fail(`unexpected character: '${first}'`, { isValueStart: true });
  }

  #readMap(depth: number, offset: number): SourceNode {
    const entries: SourceEntry[] = [];
    let hasRepeats = false;
    let seen: Map<string, SourceEntry> | undefined;
    this.#at += 1;
    for (;;) {
      this.#skipSpace();
      if (this.#take('}')) break;
      const keyOffset = this.#at;
      const key = this.#readKey();
      this.#skipSpace();
      this.#expect(':');
      this.#path.push(key);
      const value = this.#readValue(depth + 1);
      this.#path.pop();
      if (entries.length === FEW_ENTRIES) {
        seen = new Map(entries.map((entry) => [entry.key, entry]));
      }
      const earlier = seen === undefined ? withKey(entries, key) : seen.get(key);
      const entry = { key, keyOffset, value };
      if (this.duplicates.check(entry, earlier)) hasRepeats = true;
      seen?.set(key, entry);
      // Both stay: Envoy joins lists and messages that stand twice.
      entries.push(entry);
      this.#skipSpace();
      if (!this.#take(',')) {
        this.#expectEnd('}');
        break;
      }
    }
    const map = { kind: 'map', entries, offset } as const;
    return hasRepeats ? { ...map, hasRepeats } : map;
  }

  #readItems(depth: number): SourceNode[] {
    const items: SourceNode[] = [];
    this.#at += 1;
    for (;;) {
      this.#skipSpace();
      if (this.#take(']')) {
        return items;
      }
      this.#path.push(items.length);
      items.push(this.#readValue(depth + 1));
      this.#path.pop();
      this.#skipSpace();
      if (!this.#take(',')) {
        this.#expectEnd(']');
        return items;
      }
    }
  }

  #readKey(): string {
    const first = this.#text[this.#at];
    if (first === '"' || first === "'") {
      const slot = this.#text.charCodeAt(this.#at + 2) & (KNOWN_KEYS - 1);
      const known = this.#keys[slot];
      const end = this.#at + 1 + (known?.length ?? 0);
      if (known !== undefined && this.#text[end] === first) {
        if (this.#text.startsWith(known, this.#at + 1)) {
          this.#at = end + 1;
          return known;
        }
      }
      const from = this.#at;
      const key = this.#readString(first);
      // One that is written as it is read.
      if (this.#at === from + key.length + 2) this.#keys[slot] = key;
      return key;
    }
    const bare = /[A-Za-z_$][A-Za-z0-9_$]*/y;
    bare.lastIndex = this.#at;
    const key = bare.exec(this.#text)?.[0];
    if (key === undefined) {
      return this.#fail(first === undefined ? NO_MORE : 'expected bare word');
    }
    this.#at += key.length;
    return key;
  }

  #readString(quote: string): string {
    const end = this.#text.indexOf(quote, this.#at + 1);
    const plain = end < 0 ? '\\' : this.#text.slice(this.#at + 1, end);
    if (!plain.includes('\\')) {
      this.#at = end + 1;
      return plain;
    }
    let value = '';
    let from = this.#at + 1;
    for (let at = from; ; at += 1) {
      const character = this.#text[at];
      if (character === undefined) {
        this.#at = at;
        return this.#fail(NO_MORE);
      }
      if (character === quote) {
        this.#at = at + 1;
        return value + this.#text.slice(from, at);
      }
      if (character === '\\') {
        value += this.#text.slice(from, at);
        this.#at = at + 1;
        value += this.#readEscape();
        from = this.#at;
        at = from - 1;
      }
    }
  }

  #readEscape(): string {
    const found = readEscape(this.#text, this.#at);
    if ('fault' in found) return this.#fail(found.fault, { words: found.words });
    this.#at += found.length;
    return found.value;
  }

  #readNumber(): string {
    return this.#readDigits() ?? this.#readAnyNumber();
  }

  /** A number that is whole and not negative, as most are; undefined for another one. */
  #readDigits(): string | undefined {
    const text = this.#text;
    let at = this.#at;
    let code = text.charCodeAt(at);
    const isZero = code === ZERO;
    while (code >= ZERO && code <= NINE) code = text.charCodeAt(++at);
    const isOther = code === POINT || (code | SMALL) === SMALL_E;
    if (isOther || at === this.#at || (isZero && at > this.#at + 1)) return undefined;
    const digits = text.slice(this.#at, at);
    this.#at = at;
    return digits;
  }

  #readAnyNumber(): string {
    const found = readNumber(this.#text, this.#at);
    if ('fault' in found) return this.#fail(found.fault);
    this.#at += found.length;
    return found.value;
  }

  #skipSpace(): void {
    for (; this.#at < this.#text.length; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) {
        return;
      }
    }
  }

  #take(character: string): boolean {
    const found = this.#text[this.#at] === character;
    if (found) {
      this.#at += 1;
    }
    return found;
  }

  #expect(character: string): void {
    if (!this.#take(character)) {
      const found = this.#text[this.#at];
      this.#fail(
        found === undefined ? NO_MORE : `unexpected character: '${found}'; expected '${character}'`,
      );
    }
  }

  /** At the end of a list or an object, where a comma might have stood as well. */
  #expectEnd(character: string): void {
    if (this.#take(character)) return;
    const before = this.#text.slice(0, this.#at).trimEnd().at(-1) ?? '';
    const found = this.#text[this.#at];
    const isBehindNumber = found !== undefined && !',]}'.includes(found) && /[0-9]/.test(before);
    this.#fail(isBehindNumber ? `unexpected character: '${found}'` : "expected ','");
  }

  #fail(message: string, { words = message, isValueStart = false }: FailureForm = {}): never {
    const hasPlace = words !== NO_MORE && words !== TOO_MUCH;
    const path = [...this.#path];
    throw new JsonSyntaxError(message, this.#at, { words, path, isValueStart, hasPlace });
  }
}
