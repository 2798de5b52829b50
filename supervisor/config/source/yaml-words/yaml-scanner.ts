/**
 * Tokens of a YAML text as Envoy's reader makes them, one by one, so that what it refuses first is
 * what is found first: simple keys are told apart when their colon comes, on the same line and
 * within 1,024 characters; block collections open and close with the indentation.
 */
import {
  YamlFault,
  YamlText,
  isBlank,
  isOneOf,
  isSpaceOrEnd,
  type Mark,
} from './yaml-characters.ts';
import { eatBlock, eatPlain, eatQuoted } from './yaml-scalars-scan.ts';

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
  /** Of an anchor, an alias or a directive. */
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
const MAP_VALUE = 'illegal map value';

export class YamlScanner {
  readonly #text: YamlText;
  #tokens: Token[] = [];
  /** Those before it were taken. */
  #next = 0;
  readonly #indents: Indent[] = [{ column: -1, kind: 'none', start: undefined }];
  readonly #keys: SimpleKey[] = [];
  readonly #flows: ('sequence' | 'map')[] = [];
  #mayKeyStart = true;
  #mayScalarStart = true;
  /** A colon right behind a quoted scalar or a closed bracket needs no blank. */
  #isAfterJson = false;
  #isEnded = false;

  constructor(text: string) {
    this.#text = new YamlText(text);
  }

  /** Where reading has come to. */
  get mark(): Mark {
    return this.#text.mark;
  }

  /** The next token, which stays; undefined at the end. */
  peek(): Token | undefined {
    for (;;) {
      const first = this.#tokens[this.#next];
      if (first?.state === 'valid') return first;
      if (first?.state === 'invalid') this.#next++;
      else if (this.#isEnded) return first;
      else this.#scan();
    }
  }

  pop(): void {
    if (this.peek() !== undefined) this.#next++;
    if (this.#next < this.#tokens.length) return;
    this.#tokens = [];
    this.#next = 0;
  }

  get #isInFlow(): boolean {
    return this.#flows.length > 0;
  }

  #scan(): void {
    this.#skipToToken();
    this.#popIndents();
    const text = this.#text;
    if (text.isAtEnd) {
      this.#end();
      return;
    }
    if (text.column === 0 && text.peek() === '%') this.#scanDirective();
    else if (text.isAtDocumentSign('---')) this.#scanDocument('document start');
    else if (text.isAtDocumentSign('...')) this.#scanDocument('document end');
    else if (!this.#scanFlow() && !this.#scanIndicator()) this.#scanContent();
  }

  #end(): void {
    this.#popAllIndents();
    this.#dropKeys();
    this.#mayKeyStart = false;
    this.#isEnded = true;
  }

  #skipToToken(): void {
    const text = this.#text;
    for (;;) {
      while (isBlank(text.peek())) {
        if (text.peek() === '\t' && !this.#isInFlow) this.#mayKeyStart = false;
        text.eat();
      }
      if (text.peek() === '#') text.take((character) => character !== '\n');
      if (text.peek() !== '\n') return;
      text.eat();
      this.#dropKey();
      this.#mayScalarStart = true;
      if (!this.#isInFlow) this.#mayKeyStart = true;
    }
  }

  #scanFlow(): boolean {
    const character = this.#text.peek();
    if (character === '[' || character === '{') {
      this.#insertKey();
      this.#mayKeyStart = true;
      this.#mayScalarStart = true;
      this.#isAfterJson = false;
      const kind = character === '[' ? 'sequence' : 'map';
      this.#flows.push(kind);
      this.#push(`flow ${kind}`, 1);
      return true;
    }
    if (character === ']' || character === '}') {
      this.#endFlow(character === ']' ? 'sequence' : 'map');
      return true;
    }
    if (character !== ',') return false;
    if (this.#text.column === 0) {
      throw this.#fault('plain value cannot start with flow indicator character');
    }
    if (!this.#isInFlow && !this.#mayScalarStart) throw this.#fault('unexpected scalar');
    this.#endFlowItem();
    this.#mayKeyStart = true;
    this.#mayScalarStart = true;
    this.#isAfterJson = false;
    this.#push('flow entry', 1);
    return true;
  }

  #endFlow(kind: 'sequence' | 'map'): void {
    if (!this.#isInFlow) throw this.#fault('illegal flow end');
    this.#endFlowItem();
    this.#mayKeyStart = false;
    this.#mayScalarStart = true;
    this.#isAfterJson = true;
    const { mark } = this.#text;
    this.#push(`flow ${kind} end`, 1);
    if (this.#flows.pop() !== kind) throw new YamlFault(mark, 'illegal flow end');
  }

  #endFlowItem(): void {
    const kind = this.#flows.at(-1);
    if (kind === 'map' && this.#verifyKey()) this.#push('value', 0);
    else if (kind === 'sequence') this.#dropKey();
  }

  /** `-`, `?` and `:` where they stand for something. */
  #scanIndicator(): boolean {
    const character = this.#text.peek();
    const next = this.#text.peek(1);
    if (character === '-' && isSpaceOrEnd(next)) {
      if (this.#isInFlow || !this.#mayKeyStart) throw this.#fault('illegal block entry');
      this.#pushIndent('sequence');
      this.#mayKeyStart = true;
      this.#mayScalarStart = true;
      this.#isAfterJson = false;
      this.#push('block entry', 1);
      return true;
    }
    if (character === '?' && (isSpaceOrEnd(next) || (this.#isInFlow && isOneOf(',]}', next)))) {
      if (!this.#isInFlow) {
        if (!this.#mayKeyStart) throw this.#fault('illegal map key');
        this.#pushIndent('map');
      }
      this.#mayKeyStart = !this.#isInFlow;
      this.#mayScalarStart = true;
      this.#push('key', 1);
      return true;
    }
    if (character !== ':' || !this.#isValueSign(next)) return false;
    this.#scanValue();
    return true;
  }

  #isValueSign(next: string): boolean {
    if (isSpaceOrEnd(next)) return true;
    return this.#isInFlow && (this.#isAfterJson || isOneOf(',]}', next));
  }

  #scanValue(): void {
    const isSimple = this.#verifyKey();
    this.#isAfterJson = false;
    if (isSimple) {
      this.#mayKeyStart = false;
    } else {
      if (!this.#isInFlow) {
        if (!this.#mayKeyStart) throw this.#fault(MAP_VALUE);
        this.#pushIndent('map');
      }
      this.#mayKeyStart = !this.#isInFlow;
    }
    this.#mayScalarStart = true;
    this.#push('value', 1);
  }

  #scanContent(): void {
    const text = this.#text;
    const character = text.peek();
    if (character === '*' || character === '&') this.#scanAnchor(character === '*');
    else if (character === '!') this.#scanTag();
    else if (isOneOf('|>', character) && !this.#isInFlow) this.#scanBlock();
    else if (isOneOf('\'"', character)) this.#scanQuoted();
    else if (isOneOf(this.#isInFlow ? '?,[]{}#&*!|>\'"%@`' : ',[]{}#&*!|>\'"%@`', character)) {
      throw this.#fault('unknown token');
    } else this.#scanPlain();
  }

  #scanAnchor(isAlias: boolean): void {
    this.#insertKey();
    this.#mayKeyStart = false;
    this.#isAfterJson = false;
    const { mark } = this.#text;
    const what = isAlias ? 'alias' : 'anchor';
    this.#text.eat();
    const name = this.#text.take(
      (character) => !isSpaceOrEnd(character) && !isOneOf('[]{},', character),
    );
    if (name === '') throw this.#fault(`${what} not found after ${isAlias ? '*' : '&'}`);
    const next = this.#text.peek();
    if (!isSpaceOrEnd(next) && !isOneOf('?:,]}%@`', next)) {
      throw this.#fault(`illegal character found while scanning ${what}`);
    }
    this.#add({ kind: what, mark, text: name, state: 'valid' });
  }

  #scanTag(): void {
    this.#insertKey();
    this.#mayKeyStart = false;
    this.#isAfterJson = false;
    const text = this.#text;
    const { mark } = text;
    text.eat();
    if (text.peek() === '<') {
      text.eat();
      text.take((character) => /[\w!*'();/?:@&=+$,.%#[\]~-]/.test(character));
      if (text.peek() !== '>') throw this.#fault('end of verbatim tag not found');
      text.eat();
    } else {
      text.take((character) => /[\w-]/.test(character));
      if (text.peek() === '!') {
        text.eat();
        const suffix = text.take((character) => /[\w*'();/?:@&=+$.%#~-]/.test(character));
        if (suffix === '') throw this.#fault('tag handle with no suffix');
      } else {
        text.take((character) => /[\w*'();/?:@&=+$.%#~-]/.test(character));
      }
    }
    this.#add({ kind: 'tag', mark, text: '', state: 'valid' });
  }

  #scanBlock(): void {
    const { mark } = this.#text;
    eatBlock(this.#text, this.#indents.at(-1)?.column ?? -1);
    this.#mayKeyStart = true;
    this.#mayScalarStart = true;
    this.#isAfterJson = false;
    this.#add({ kind: 'scalar', mark, text: '', state: 'valid' });
  }

  #scanQuoted(): void {
    this.#startScalar();
    const { mark } = this.#text;
    eatQuoted(this.#text);
    this.#mayKeyStart = false;
    this.#isAfterJson = true;
    this.#add({ kind: 'scalar', mark, text: '', state: 'valid' });
  }

  #scanPlain(): void {
    const indent = this.#isInFlow ? 0 : (this.#indents.at(-1)?.column ?? -1) + 1;
    this.#startScalar();
    const { mark } = this.#text;
    const isOverAtLine = eatPlain(this.#text, indent, this.#isInFlow);
    if (isOverAtLine) this.#mayScalarStart = true;
    this.#mayKeyStart = isOverAtLine;
    this.#isAfterJson = false;
    this.#add({ kind: 'scalar', mark, text: '', state: 'valid' });
  }

  #startScalar(): void {
    if (!this.#mayScalarStart) throw this.#fault('unexpected scalar');
    this.#insertKey();
    this.#mayScalarStart = false;
  }

  #scanDirective(): void {
    this.#popAllIndents();
    this.#dropKeys();
    this.#mayKeyStart = false;
    const { mark } = this.#text;
    this.#text.eat();
    const line = this.#text.take((character) => character !== '\n');
    const words = line.replace(/(^|[ \t])#.*$/, '').trim();
    this.#add({ kind: 'directive', mark, text: words, state: 'valid' });
  }

  #scanDocument(kind: 'document start' | 'document end'): void {
    this.#popAllIndents();
    this.#dropKeys();
    this.#mayKeyStart = false;
    this.#isAfterJson = false;
    this.#push(kind, 3);
  }

  #insertKey(): void {
    if (!this.#mayKeyStart) return;
    const flowLevel = this.#flows.length;
    if (this.#keys.at(-1)?.flowLevel === flowLevel) return;
    const { mark, at } = this.#text;
    const indent = this.#pushIndent('map', 'unverified');
    const key: Token = { kind: 'key', mark, text: '', state: 'unverified' };
    this.#add(key);
    this.#keys.push({ mark, at, flowLevel, indent, key });
  }

  /** Whether what was read last on this level is a key whose colon stands here. */
  #verifyKey(): boolean {
    const key = this.#keys.at(-1);
    if (key === undefined || key.flowLevel !== this.#flows.length) return false;
    this.#keys.pop();
    const { line } = this.#text.mark;
    const isValid = line === key.mark.line && this.#text.at - key.at <= MAX_KEY_LENGTH;
    settleKey(key, isValid ? 'valid' : 'invalid');
    return isValid;
  }

  #dropKey(): void {
    const key = this.#keys.at(-1);
    if (key === undefined || key.flowLevel !== this.#flows.length) return;
    this.#keys.pop();
    settleKey(key, 'invalid');
  }

  /** They stay undecided, which at the end of the text is as good as valid. */
  #dropKeys(): void {
    this.#keys.length = 0;
  }

  #pushIndent(
    kind: 'sequence' | 'map',
    state: 'valid' | 'unverified' = 'valid',
  ): Indent | undefined {
    if (this.#isInFlow) return undefined;
    const { column, mark } = this.#text;
    const last = this.#indents.at(-1);
    if (last === undefined || column < last.column) return undefined;
    const isSequenceInMap = kind === 'sequence' && last.kind === 'map';
    if (column === last.column && !isSequenceInMap) return undefined;
    const start: Token = { kind: `block ${kind}`, mark, text: '', state };
    this.#add(start);
    const indent: Indent = { column, kind, start };
    this.#indents.push(indent);
    return indent;
  }

  #popIndents(): void {
    if (this.#isInFlow) return;
    const { column } = this.#text;
    const isEntry = this.#text.peek() === '-' && isSpaceOrEnd(this.#text.peek(1));
    for (;;) {
      const top = this.#indents.at(-1);
      if (top === undefined || top.kind === 'none') break;
      const isSame = top.column === column && !(top.kind === 'sequence' && !isEntry);
      if (top.column < column || isSame) break;
      this.#popIndent(top);
    }
    for (;;) {
      const top = this.#indents.at(-1);
      if (top?.start?.state !== 'invalid') return;
      this.#popIndent(top);
    }
  }

  #popAllIndents(): void {
    for (;;) {
      const top = this.#indents.at(-1);
      if (this.#isInFlow || top === undefined || top.kind === 'none') return;
      this.#popIndent(top);
    }
  }

  #popIndent(top: Indent): void {
    this.#indents.pop();
    if (top.start?.state !== 'valid') this.#dropKey();
    else if (top.kind !== 'none') this.#push(`block ${top.kind} end`, 0);
  }

  #push(kind: TokenKind, length: number): void {
    this.#add({ kind, mark: this.#text.mark, text: '', state: 'valid' });
    this.#text.eat(length);
  }

  #add(token: Token): void {
    this.#tokens.push(token);
  }

  #fault(words: string): YamlFault {
    return new YamlFault(this.#text.mark, words);
  }
}

function settleKey({ indent, key }: SimpleKey, state: 'valid' | 'invalid'): void {
  if (indent?.start !== undefined) indent.start.state = state;
  key.state = state;
}
