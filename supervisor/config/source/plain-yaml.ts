/**
 * Reads the YAML that most configurations are written in, some ten times faster than the YAML
 * library: block maps and lists, flow collections, words and quoted texts on one line, comments. It
 * decides nothing that is doubtful: at anything else, and at every mistake, it gives up and the
 * library reads the text. What it does read is the same tree, offset by offset, but for a lone dash
 * as in `{id: -}`, which the library refuses and Envoy takes.
 */
import type { SourceEntry, SourceNode } from './source-node.ts';
import {
  SPACE,
  NEWLINE,
  HASH,
  COLON,
  COMMA,
  DASH,
  DOUBLE_QUOTE,
  SINGLE_QUOTE,
  LEFT_BRACKET,
  RIGHT_BRACKET,
  LEFT_BRACE,
  RIGHT_BRACE,
  GiveUp,
  GIVE_UP,
  YamlCursor,
} from './yaml-cursor.ts';
import { plainScalar } from './yaml-scalars.ts';

/** Undefined when the text is for the library. */
export function readPlainYaml(text: string): SourceNode | undefined {
  if (UNUSUAL.test(text)) return undefined;
  try {
    return new PlainYamlReader(text).document();
  } catch (error) {
    if (error instanceof GiveUp) return undefined;
    throw error;
  }
}

/** Tabs, carriage returns, control characters, byte order marks, Unicode's line ends. */
// oxlint-disable-next-line no-control-regex
const UNUSUAL = /[\u0000-\u0009\u000b-\u001f\u007f\u0085\u2028\u2029\ufeff]/;

/** Deeper texts are for the library, which says what is wrong with them. */
const MAXIMUM_DEPTH = 100;
/** The library refuses longer keys. */
const MAXIMUM_KEY = 1000;

class PlainYamlReader extends YamlCursor {
  #depth = 0;

  constructor(text: string) {
    super(text);
  }

  document(): SourceNode {
    if (this.text.startsWith('---\n')) this.at = this.lineStart = 4;
    this.toContent();
    // A text of one word or of nothing is for the library to judge.
    if (this.at >= this.text.length) throw GIVE_UP;
    const root = this.#block(-1);
    this.toContent();
    if (this.at < this.text.length || root.kind !== 'map') throw GIVE_UP;
    return root;
  }

  /** Reads what begins here; lines that belong to it are indented by more than `parent` columns. */
  #block(parent: number): SourceNode {
    this.#depth += 1;
    if (this.#depth > MAXIMUM_DEPTH) throw GIVE_UP;
    const code = this.code(this.at);
    const node =
      code === DASH && this.isBlank(this.at + 1)
        ? this.#list(this.column())
        : code === LEFT_BRACE || code === LEFT_BRACKET
          ? this.lineEnding(this.#flow(parent))
          : this.#mapOrScalar(parent);
    this.#depth -= 1;
    return node;
  }

  #list(column: number): SourceNode {
    const offset = this.at;
    const items: SourceNode[] = [];
    while (
      this.at < this.text.length &&
      this.column() === column &&
      this.code(this.at) === DASH &&
      this.isBlank(this.at + 1)
    ) {
      this.at += 1;
      items.push(this.#valueBehindMark(column, column));
      this.toContent();
    }
    this.checkOutdent(column);
    return { kind: 'list', items, offset };
  }

  #mapOrScalar(parent: number): SourceNode {
    const offset = this.at;
    const column = this.column();
    const key = this.#key();
    return key === undefined ? this.#scalar(parent) : this.#map(offset, column, key);
  }

  #map(offset: number, column: number, firstKey: string): SourceNode {
    const entries: SourceEntry[] = [];
    const seen = new Set<string>();
    let key: string | undefined = firstKey;
    let keyOffset = offset;
    while (key !== undefined) {
      if (seen.has(key)) throw GIVE_UP;
      seen.add(key);
      // A list may stand at its key's own column.
      entries.push({ key, keyOffset, value: this.#valueBehindMark(column, column - 1) });
      this.toContent();
      this.checkOutdent(column);
      keyOffset = this.at;
      const isOver = this.at >= this.text.length || this.column() < column;
      key = isOver ? undefined : this.#key();
      if (!isOver && key === undefined) throw GIVE_UP;
    }
    return { kind: 'map', entries, offset };
  }

  /** What follows a `-` or a key's colon: on this line, or indented on the next ones. */
  #valueBehindMark(column: number, listColumn: number): SourceNode {
    this.skipSpaces();
    const offset = this.at;
    const code = this.code(offset);
    const isOnLine = code !== NEWLINE && code !== HASH && offset < this.text.length;
    if (isOnLine) {
      // Behind a dash a map or list may begin at once; behind a key it may not.
      return listColumn === column ? this.#block(column) : this.#inlineValue(column);
    }
    this.toContent();
    if (this.at < this.text.length) {
      const next = this.column();
      const code = this.code(this.at);
      const isDash = code === DASH && this.isBlank(this.at + 1);
      // Behind a key, a list or a flow collection may stand at the key's own column.
      const isOwnColumn = isDash || code === LEFT_BRACE || code === LEFT_BRACKET;
      if (next > column) return this.#block(column);
      if (isOwnColumn && next > listColumn) return this.#block(listColumn);
    }
    return { kind: 'null', value: null, offset };
  }

  #inlineValue(column: number): SourceNode {
    const code = this.code(this.at);
    if (code === LEFT_BRACE || code === LEFT_BRACKET) return this.lineEnding(this.#flow(column));
    if (code === DASH && this.isBlank(this.at + 1)) throw GIVE_UP;
    return this.#scalar(column);
  }

  /** A scalar up to the end of its line; one that goes on below is for the library. */
  #scalar(parent: number): SourceNode {
    const offset = this.at;
    const code = this.code(offset);
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      const node: SourceNode = { kind: 'string', value: this.quoted(), offset };
      return this.lineEnding(node);
    }
    this.checkWord(offset);
    const text = this.text;
    let end = offset;
    for (let at = offset; ; at++) {
      const next = text.charCodeAt(at);
      if (next === NEWLINE || at >= text.length) break;
      if (next === HASH && text.charCodeAt(at - 1) === SPACE) break;
      if (next === COLON && this.isBlank(at + 1)) throw GIVE_UP;
      if (next !== SPACE) end = at + 1;
    }
    this.at = end;
    const node = plainScalar(text.slice(offset, end), offset);
    this.toContent();
    if (this.at < text.length && this.column() > parent) throw GIVE_UP;
    return node;
  }

  /** Reads `key:` if that stands here, up to behind the colon; otherwise stays. */
  #key(): string | undefined {
    const start = this.at;
    const text = this.text;
    const first = this.code(start);
    if (first === DOUBLE_QUOTE || first === SINGLE_QUOTE) return this.#quotedKey();
    if (first === LEFT_BRACE || first === LEFT_BRACKET) throw GIVE_UP;
    this.checkWord(start);
    let end = start;
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === NEWLINE || (code === HASH && text.charCodeAt(at - 1) === SPACE)) break;
      if (code === COLON && this.isBlank(at + 1)) {
        if (at - start > MAXIMUM_KEY) throw GIVE_UP;
        this.at = at + 1;
        return text.slice(start, end);
      }
      if (code !== SPACE) end = at + 1;
    }
    return undefined;
  }

  #quotedKey(): string | undefined {
    const start = this.at;
    const key = this.quoted();
    this.skipSpaces();
    if (this.code(this.at) === COLON && this.isBlank(this.at + 1)) {
      this.at += 1;
      return key;
    }
    this.at = start;
    return undefined;
  }

  /** `parent` is the column that lines inside must be indented by more than. */
  #flow(parent: number): SourceNode {
    this.#depth += 1;
    if (this.#depth > MAXIMUM_DEPTH) throw GIVE_UP;
    const isMap = this.code(this.at) === LEFT_BRACE;
    const node = isMap ? this.#flowMap(parent) : this.#flowList(parent);
    this.#depth -= 1;
    return node;
  }

  #flowMap(parent: number): SourceNode {
    const offset = this.at;
    const entries: SourceEntry[] = [];
    const seen = new Set<string>();
    this.at += 1;
    for (;;) {
      this.toFlowContent(parent);
      if (this.code(this.at) === RIGHT_BRACE) break;
      const keyOffset = this.at;
      const key = this.#flowKey();
      if (seen.has(key)) throw GIVE_UP;
      seen.add(key);
      this.toFlowContent(parent);
      entries.push({ key, keyOffset, value: this.#flowValue(parent) });
      if (!this.#comma(parent, RIGHT_BRACE)) break;
    }
    this.at += 1;
    return { kind: 'map', entries, offset };
  }

  #flowList(parent: number): SourceNode {
    const offset = this.at;
    const items: SourceNode[] = [];
    this.at += 1;
    for (;;) {
      this.toFlowContent(parent);
      const code = this.code(this.at);
      if (code === RIGHT_BRACKET) break;
      const offset = this.at;
      const isLeftOut = code === COMMA;
      items.push(isLeftOut ? { kind: 'null', value: null, offset } : this.#flowValue(parent));
      if (!this.#comma(parent, RIGHT_BRACKET)) break;
    }
    this.at += 1;
    return { kind: 'list', items, offset };
  }

  /** Whether another item may follow; stands on the closing bracket if not. */
  #comma(parent: number, close: number): boolean {
    this.toFlowContent(parent);
    const code = this.code(this.at);
    if (code === close) return false;
    if (code !== COMMA) throw GIVE_UP;
    this.at += 1;
    return true;
  }

  #flowKey(): string {
    const first = this.code(this.at);
    const isQuoted = first === DOUBLE_QUOTE || first === SINGLE_QUOTE;
    const key = isQuoted ? this.quoted() : this.flowWord();
    this.skipSpaces();
    if (this.code(this.at) !== COLON || key.length > MAXIMUM_KEY) throw GIVE_UP;
    this.at += 1;
    return key;
  }

  #flowValue(parent: number): SourceNode {
    const offset = this.at;
    const code = this.code(offset);
    if (code === LEFT_BRACE || code === LEFT_BRACKET) return this.#flow(parent);
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      return { kind: 'string', value: this.quoted(), offset };
    }
    const node = plainScalar(this.flowWord(), offset);
    // A pair without braces, or a word that goes on in the next line.
    if (!this.endsFlowItem(this.at)) throw GIVE_UP;
    return node;
  }
}
