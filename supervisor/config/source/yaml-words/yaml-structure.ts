/**
 * What a scanner of YAML keeps while it reads: the tokens so far, the block collections that the
 * indentation has opened, and the simple keys whose colon may still come.
 */
import { isSpaceOrEnd, YamlFault, YamlText, type Mark } from './yaml-characters.ts';

export type TokenKind =
  | 'directive'
  | 'document start'
  | 'document end'
  | 'block sequence'
  | 'block map'
  | 'block sequence end'
  | 'block map end'
  | 'block entry'
  | 'flow sequence'
  | 'flow map'
  | 'flow sequence end'
  | 'flow map end'
  | 'flow entry'
  | 'key'
  | 'value'
  | 'anchor'
  | 'alias'
  | 'tag'
  | 'scalar';

export interface Token {
  readonly kind: TokenKind;
  readonly mark: Mark;
  /** The text of an anchor, an alias or a directive. */
  readonly text: string;
  state: 'valid' | 'unverified' | 'invalid';
}

interface Indent {
  readonly column: number;
  readonly kind: 'none' | 'sequence' | 'map';
  readonly start: Token | undefined;
}

interface SimpleKey {
  readonly mark: Mark;
  readonly at: number;
  readonly flowLevel: number;
  readonly indent: Indent | undefined;
  readonly key: Token;
}

const MAX_KEY_LENGTH = 1024;

export class YamlStructure {
  readonly text: YamlText;
  readonly indents: Indent[] = [{ column: -1, kind: 'none', start: undefined }];
  readonly flows: ('sequence' | 'map')[] = [];
  mayKeyStart = true;
  isEnded = false;
  #tokens: Token[] = [];
  /** Those before it were taken. */
  #next = 0;
  readonly #keys: SimpleKey[] = [];

  constructor(text: string) {
    this.text = new YamlText(text);
  }

  /** The next token, which stays; undefined at the end, and while the text says nothing of it yet. */
  first(): Token | undefined {
    for (;;) {
      const first = this.#tokens[this.#next];
      if (first?.state !== 'invalid')
        return first?.state === 'valid' || this.isEnded ? first : undefined;
      this.#next++;
    }
  }

  /** Takes the next token away. */
  take(): void {
    this.#next++;
    if (this.#next < this.#tokens.length) return;
    this.#tokens = [];
    this.#next = 0;
  }

  get isInFlow(): boolean {
    return this.flows.length > 0;
  }

  insertKey(): void {
    if (!this.mayKeyStart) return;
    const flowLevel = this.flows.length;
    if (this.#keys.at(-1)?.flowLevel === flowLevel) return;
    const { mark, at } = this.text;
    const indent = this.pushIndent('map', 'unverified');
    const key: Token = { kind: 'key', mark, text: '', state: 'unverified' };
    this.add(key);
    this.#keys.push({ mark, at, flowLevel, indent, key });
  }

  /** Whether what was read last on this level is a key whose colon stands here. */
  verifyKey(): boolean {
    const key = this.#keys.at(-1);
    if (key === undefined || key.flowLevel !== this.flows.length) return false;
    this.#keys.pop();
    const { line } = this.text.mark;
    const isValid = line === key.mark.line && this.text.at - key.at <= MAX_KEY_LENGTH;
    settleKey(key, isValid ? 'valid' : 'invalid');
    return isValid;
  }

  dropKey(): void {
    const key = this.#keys.at(-1);
    if (key === undefined || key.flowLevel !== this.flows.length) return;
    this.#keys.pop();
    settleKey(key, 'invalid');
  }

  /** They stay undecided, which at the end of the text is as good as valid. */
  dropKeys(): void {
    this.#keys.length = 0;
  }

  pushIndent(
    kind: 'sequence' | 'map',
    state: 'valid' | 'unverified' = 'valid',
  ): Indent | undefined {
    if (this.isInFlow) return undefined;
    const { column, mark } = this.text;
    const last = this.indents.at(-1);
    if (last === undefined || column < last.column) return undefined;
    const isSequenceInMap = kind === 'sequence' && last.kind === 'map';
    if (column === last.column && !isSequenceInMap) return undefined;
    const start: Token = { kind: `block ${kind}`, mark, text: '', state };
    this.add(start);
    const indent: Indent = { column, kind, start };
    this.indents.push(indent);
    return indent;
  }

  popIndents(): void {
    if (this.isInFlow) return;
    const { column } = this.text;
    const isEntry = this.text.peek() === '-' && isSpaceOrEnd(this.text.peek(1));
    for (;;) {
      const top = this.indents.at(-1);
      if (top === undefined || top.kind === 'none') break;
      const isSame = top.column === column && !(top.kind === 'sequence' && !isEntry);
      if (top.column < column || isSame) break;
      this.#popIndent(top);
    }
    for (;;) {
      const top = this.indents.at(-1);
      if (top?.start?.state !== 'invalid') return;
      this.#popIndent(top);
    }
  }

  popAllIndents(): void {
    for (;;) {
      const top = this.indents.at(-1);
      if (this.isInFlow || top === undefined || top.kind === 'none') return;
      this.#popIndent(top);
    }
  }

  #popIndent(top: Indent): void {
    this.indents.pop();
    if (top.start?.state !== 'valid') this.dropKey();
    else if (top.kind !== 'none') this.push(`block ${top.kind} end`, 0);
  }

  push(kind: TokenKind, length: number): void {
    this.add({ kind, mark: this.text.mark, text: '', state: 'valid' });
    this.text.eat(length);
  }

  add(token: Token): void {
    this.#tokens.push(token);
  }

  fault(words: string): YamlFault {
    return new YamlFault(this.text.mark, words);
  }
}

function settleKey({ indent, key }: SimpleKey, state: 'valid' | 'invalid'): void {
  if (indent?.start !== undefined) indent.start.state = state;
  key.state = state;
}
