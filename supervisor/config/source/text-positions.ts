/**
 * The tree of a protobuf text, made only to find places in it: protobufjs's parser keeps no
 * positions. It knows no types. Fields that repeat become a list, the content of `[type] {...}`
 * becomes that of the Any around it.
 */
import type { SourceEntry, SourceNode } from './source-node.ts';

const maximumDepth = 200;

/** Undefined for a text that is not well formed. */
export function textPositions(text: string): SourceNode | undefined {
  const scanner = new TextScanner(text);
  const entries = scanner.entries(0, undefined);
  return entries === undefined ? undefined : { kind: 'map', entries, offset: 0 };
}

const space = /(?:\s|#[^\n]*(?:\n|$)|[,;])*/y;
const name = /[A-Za-z_][A-Za-z0-9_]*|\[[^\]]*\]/y;
const scalar = /(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|-?[A-Za-z0-9_.+-]+/y;
const quoted = /^["']/;

class TextScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The fields up to the closing bracket, or to the end of the text. */
  entries(depth: number, close: string | undefined): SourceEntry[] | undefined {
    const found = new Map<string, { keyOffset: number; values: SourceNode[] }>();
    for (;;) {
      this.#take(space);
      if (this.#at >= this.#text.length || this.#text[this.#at] === close) {
        const closed = this.#text[this.#at] === close;
        this.#at += 1;
        return closed ? [...found].map(([key, field]) => entryOf(key, field)) : undefined;
      }
      const keyOffset = this.#at;
      const key = this.#take(name);
      const value = key === undefined ? undefined : this.#value(depth + 1);
      if (key === undefined || value === undefined) {
        return undefined;
      }
      const inner = key.startsWith('[') && value.kind === 'map' ? value.entries : undefined;
      for (const entry of inner ?? [{ key, keyOffset, value }]) {
        const field = found.get(entry.key) ?? { keyOffset: entry.keyOffset, values: [] };
        field.values.push(...(entry.value.kind === 'list' ? entry.value.items : [entry.value]));
        found.set(entry.key, field);
      }
    }
  }

  #value(depth: number): SourceNode | undefined {
    this.#take(space);
    if (this.#text[this.#at] === ':') {
      this.#at += 1;
      this.#take(space);
    }
    const offset = this.#at;
    const first = this.#text[offset];
    if (depth > maximumDepth) {
      return undefined;
    }
    if (first === '{' || first === '<') {
      this.#at += 1;
      const entries = this.entries(depth, first === '{' ? '}' : '>');
      return entries === undefined ? undefined : { kind: 'map', entries, offset };
    }
    return first === '[' ? this.#list(depth, offset) : this.#scalar(offset);
  }

  #list(depth: number, offset: number): SourceNode | undefined {
    const items: SourceNode[] = [];
    this.#at += 1;
    for (;;) {
      this.#take(space);
      if (this.#text[this.#at] === ']') {
        this.#at += 1;
        return { kind: 'list', items, offset };
      }
      const item = this.#value(depth + 1);
      if (item === undefined) {
        return undefined;
      }
      items.push(item);
    }
  }

  /** Texts that follow each other are one. */
  #scalar(offset: number): SourceNode | undefined {
    const first = this.#take(scalar);
    if (first === undefined) {
      return undefined;
    }
    let value = quoted.test(first) ? first.slice(1, -1) : first;
    while (quoted.test(first)) {
      this.#take(space);
      const next = quoted.test(this.#text[this.#at] ?? '') ? this.#take(scalar) : undefined;
      if (next === undefined) {
        break;
      }
      value += next.slice(1, -1);
    }
    return { kind: 'string', value, offset };
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

function entryOf(
  key: string,
  { keyOffset, values }: { keyOffset: number; values: readonly SourceNode[] },
): SourceEntry {
  const [only] = values;
  const value: SourceNode =
    only !== undefined && values.length === 1
      ? only
      : { kind: 'list', items: values, offset: keyOffset };
  return { key, keyOffset, value };
}
