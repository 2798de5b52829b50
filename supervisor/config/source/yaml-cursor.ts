/**
 * A place in the text of plain-yaml.ts: what stands there, words, quoted texts, comments and where
 * lines begin. At anything doubtful it gives up.
 */
import type { SourceNode } from './source-node.ts';

export class GiveUp extends Error {}
export const GIVE_UP = new GiveUp('this text is for the YAML library');

export const SPACE = 0x20;
export const NEWLINE = 0x0a;
export const HASH = 0x23;
export const COLON = 0x3a;
export const COMMA = 0x2c;
export const DASH = 0x2d;
export const DOUBLE_QUOTE = 0x22;
export const SINGLE_QUOTE = 0x27;
export const LEFT_BRACKET = 0x5b;
export const RIGHT_BRACKET = 0x5d;
export const LEFT_BRACE = 0x7b;
export const RIGHT_BRACE = 0x7d;
const QUESTION = 0x3f;

/** What no plain word begins with. */
const INDICATORS: ReadonlySet<number> = new Set(Buffer.from('?&*!|>%@`,]}#'));
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

export abstract class YamlCursor {
  protected readonly text: string;
  protected at = 0;
  protected lineStart = 0;

  protected constructor(text: string) {
    this.text = text;
  }

  protected quoted(): string {
    const text = this.text;
    const start = this.at + 1;
    const quote = this.code(this.at);
    const mark = quote === DOUBLE_QUOTE ? '"' : "'";
    let end = text.indexOf(mark, start);
    while (end >= 0) {
      if (quote === SINGLE_QUOTE && text.charCodeAt(end + 1) === SINGLE_QUOTE) {
        end = text.indexOf(mark, end + 2);
      } else if (quote === DOUBLE_QUOTE && isEscaped(text, start, end)) {
        end = text.indexOf(mark, end + 1);
      } else {
        break;
      }
    }
    if (end < 0) throw GIVE_UP;
    const inside = text.slice(start, end);
    if (inside.includes('\n')) throw GIVE_UP;
    this.at = end + 1;
    if (quote === SINGLE_QUOTE)
      return inside.includes("''") ? inside.replaceAll("''", "'") : inside;
    return inside.includes('\\') ? unescaped(inside) : inside;
  }

  /** Nothing but a comment may follow on the line. */
  protected lineEnding(node: SourceNode): SourceNode {
    const behind = this.at;
    this.skipSpaces();
    const code = this.code(this.at);
    const isComment = code === HASH && this.at > behind;
    if (code !== NEWLINE && this.at < this.text.length && !isComment) throw GIVE_UP;
    return node;
  }

  protected checkWord(at: number): void {
    const code = this.code(at);
    const isMark = code === DASH || code === COLON;
    if (INDICATORS.has(code) || (isMark && this.isBlank(at + 1))) throw GIVE_UP;
    // Document marks.
    if (at === this.lineStart && /^(---|\.\.\.)/.test(this.text.slice(at, at + 3))) throw GIVE_UP;
  }

  protected checkOutdent(column: number): void {
    if (this.at < this.text.length && this.column() > column) throw GIVE_UP;
  }

  /** To the next thing that is neither space nor comment. */
  protected toContent(): void {
    for (;;) {
      this.skipSpaces();
      const code = this.code(this.at);
      if (code === HASH) this.skipComment();
      else if (code === NEWLINE) this.lineStart = this.at += 1;
      else return;
    }
  }

  protected toFlowContent(parent: number): void {
    const line = this.lineStart;
    this.toContent();
    if (this.at >= this.text.length) throw GIVE_UP;
    if (this.lineStart !== line && this.column() <= parent) throw GIVE_UP;
  }

  protected skipSpaces(): void {
    while (this.code(this.at) === SPACE) this.at += 1;
  }

  protected skipComment(): void {
    const before = this.code(this.at - 1);
    if (this.at > this.lineStart && before !== SPACE) throw GIVE_UP;
    const end = this.text.indexOf('\n', this.at);
    this.at = end < 0 ? this.text.length : end;
  }

  protected column(): number {
    return this.at - this.lineStart;
  }

  /** Not a number behind the end. */
  protected code(at: number): number {
    return this.text.charCodeAt(at);
  }

  protected isBlank(at: number): boolean {
    const code = this.text.charCodeAt(at);
    return code === SPACE || code === NEWLINE || at >= this.text.length;
  }

  protected endsFlowItem(at: number): boolean {
    const code = this.code(at);
    return code === COMMA || code === RIGHT_BRACE || code === RIGHT_BRACKET;
  }

  protected flowWord(): string {
    const start = this.at;
    const text = this.text;
    this.checkWord(start);
    let end = start;
    let at = start;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.endsFlowItem(at)) break;
      if (this.#spoilsFlowWord(code)) throw GIVE_UP;
      if (code === COLON && this.#endsFlowKey(at + 1)) break;
      if (code !== SPACE) end = at + 1;
    }
    if (end === start) throw GIVE_UP;
    this.at = at;
    return text.slice(start, end);
  }

  #spoilsFlowWord(code: number): boolean {
    const opens = code === LEFT_BRACE || code === LEFT_BRACKET;
    return opens || code === NEWLINE || code === HASH || code === QUESTION;
  }

  #endsFlowKey(at: number): boolean {
    const code = this.code(at);
    const opens = code === LEFT_BRACE || code === LEFT_BRACKET;
    if (opens || this.endsFlowItem(at)) throw GIVE_UP;
    return this.isBlank(at);
  }
}

function isEscaped(text: string, start: number, at: number): boolean {
  let count = 0;
  while (at - 1 - count >= start && text[at - 1 - count] === '\\') count++;
  return count % 2 === 1;
}

function unescaped(inside: string): string {
  return inside.replace(/\\(.)/gs, (_match, letter: string) => {
    const plain = ESCAPES.get(letter);
    if (plain === undefined) throw GIVE_UP;
    return plain;
  });
}
