/**
 * Tokens of a YAML text as Envoy's reader makes them, one by one, so that what it refuses first is
 * what is found first: simple keys are told apart when their colon comes, on the same line and
 * within 1,024 characters; block collections open and close with the indentation.
 */
import { isBlank, isOneOf, isSpaceOrEnd, YamlFault, type Mark } from './yaml-characters.ts';
import { eatBlock, eatPlain, eatQuoted } from './yaml-scalars-scan.ts';
import { type Token, YamlStructure } from './yaml-structure.ts';

const MAP_VALUE = 'illegal map value';

export class YamlScanner {
  readonly #structure: YamlStructure;
  #mayScalarStart = true;
  /** A colon right behind a quoted scalar or a closed bracket needs no blank. */
  #isAfterJson = false;

  constructor(text: string) {
    this.#structure = new YamlStructure(text);
  }

  /** Where reading has come to. */
  get mark(): Mark {
    return this.#structure.text.mark;
  }

  /** The next token, which stays; undefined at the end. */
  peek(): Token | undefined {
    for (;;) {
      const first = this.#structure.first();
      if (first !== undefined || this.#structure.isEnded) return first;
      this.#scan();
    }
  }

  pop(): void {
    if (this.peek() !== undefined) this.#structure.take();
  }

  #scan(): void {
    this.#skipToToken();
    this.#structure.popIndents();
    const text = this.#structure.text;
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
    this.#structure.popAllIndents();
    this.#structure.dropKeys();
    this.#structure.mayKeyStart = false;
    this.#structure.isEnded = true;
  }

  #skipToToken(): void {
    const text = this.#structure.text;
    for (;;) {
      while (isBlank(text.peek())) {
        if (text.peek() === '\t' && !this.#structure.isInFlow) this.#structure.mayKeyStart = false;
        text.eat();
      }
      if (text.peek() === '#') text.take((character) => character !== '\n');
      if (text.peek() !== '\n') return;
      text.eat();
      this.#structure.dropKey();
      this.#mayScalarStart = true;
      if (!this.#structure.isInFlow) this.#structure.mayKeyStart = true;
    }
  }

  #scanFlow(): boolean {
    const character = this.#structure.text.peek();
    if (character === '[' || character === '{') {
      this.#structure.insertKey();
      this.#structure.mayKeyStart = true;
      this.#mayScalarStart = true;
      this.#isAfterJson = false;
      const kind = character === '[' ? 'sequence' : 'map';
      this.#structure.flows.push(kind);
      this.#structure.push(`flow ${kind}`, 1);
      return true;
    }
    if (character === ']' || character === '}') {
      this.#endFlow(character === ']' ? 'sequence' : 'map');
      return true;
    }
    if (character !== ',') return false;
    if (this.#structure.text.column === 0) {
      throw this.#structure.fault('plain value cannot start with flow indicator character');
    }
    if (!this.#structure.isInFlow && !this.#mayScalarStart)
      throw this.#structure.fault('unexpected scalar');
    this.#endFlowItem();
    this.#structure.mayKeyStart = true;
    this.#mayScalarStart = true;
    this.#isAfterJson = false;
    this.#structure.push('flow entry', 1);
    return true;
  }

  #endFlow(kind: 'sequence' | 'map'): void {
    if (!this.#structure.isInFlow) throw this.#structure.fault('illegal flow end');
    this.#endFlowItem();
    this.#structure.mayKeyStart = false;
    this.#mayScalarStart = true;
    this.#isAfterJson = true;
    const { mark } = this.#structure.text;
    this.#structure.push(`flow ${kind} end`, 1);
    if (this.#structure.flows.pop() !== kind) throw new YamlFault(mark, 'illegal flow end');
  }

  #endFlowItem(): void {
    const kind = this.#structure.flows.at(-1);
    if (kind === 'map' && this.#structure.verifyKey()) this.#structure.push('value', 0);
    else if (kind === 'sequence') this.#structure.dropKey();
  }

  /** `-`, `?` and `:` where they stand for something. */
  #scanIndicator(): boolean {
    const character = this.#structure.text.peek();
    const next = this.#structure.text.peek(1);
    if (character === '-' && isSpaceOrEnd(next)) {
      if (this.#structure.isInFlow || !this.#structure.mayKeyStart)
        throw this.#structure.fault('illegal block entry');
      this.#structure.pushIndent('sequence');
      this.#structure.mayKeyStart = true;
      this.#mayScalarStart = true;
      this.#isAfterJson = false;
      this.#structure.push('block entry', 1);
      return true;
    }
    if (
      character === '?' &&
      (isSpaceOrEnd(next) || (this.#structure.isInFlow && isOneOf(',]}', next)))
    ) {
      if (!this.#structure.isInFlow) {
        if (!this.#structure.mayKeyStart) throw this.#structure.fault('illegal map key');
        this.#structure.pushIndent('map');
      }
      this.#structure.mayKeyStart = !this.#structure.isInFlow;
      this.#mayScalarStart = true;
      this.#structure.push('key', 1);
      return true;
    }
    if (character !== ':' || !this.#isValueSign(next)) return false;
    this.#scanValue();
    return true;
  }

  #isValueSign(next: string): boolean {
    if (isSpaceOrEnd(next)) return true;
    return this.#structure.isInFlow && (this.#isAfterJson || isOneOf(',]}', next));
  }

  #scanValue(): void {
    const isSimple = this.#structure.verifyKey();
    this.#isAfterJson = false;
    if (isSimple) {
      this.#structure.mayKeyStart = false;
    } else {
      if (!this.#structure.isInFlow) {
        if (!this.#structure.mayKeyStart) throw this.#structure.fault(MAP_VALUE);
        this.#structure.pushIndent('map');
      }
      this.#structure.mayKeyStart = !this.#structure.isInFlow;
    }
    this.#mayScalarStart = true;
    this.#structure.push('value', 1);
  }

  #scanContent(): void {
    const text = this.#structure.text;
    const character = text.peek();
    if (character === '*' || character === '&') this.#scanAnchor(character === '*');
    else if (character === '!') this.#scanTag();
    else if (isOneOf('|>', character) && !this.#structure.isInFlow) this.#scanBlock();
    else if (isOneOf('\'"', character)) this.#scanQuoted();
    else if (
      isOneOf(this.#structure.isInFlow ? '?,[]{}#&*!|>\'"%@`' : ',[]{}#&*!|>\'"%@`', character)
    ) {
      throw this.#structure.fault('unknown token');
    } else this.#scanPlain();
  }

  #scanAnchor(isAlias: boolean): void {
    this.#structure.insertKey();
    this.#structure.mayKeyStart = false;
    this.#isAfterJson = false;
    const { mark } = this.#structure.text;
    const what = isAlias ? 'alias' : 'anchor';
    this.#structure.text.eat();
    const name = this.#structure.text.take(
      (character) => !isSpaceOrEnd(character) && !isOneOf('[]{},', character),
    );
    if (name === '') throw this.#structure.fault(`${what} not found after ${isAlias ? '*' : '&'}`);
    const next = this.#structure.text.peek();
    if (!isSpaceOrEnd(next) && !isOneOf('?:,]}%@`', next)) {
      throw this.#structure.fault(`illegal character found while scanning ${what}`);
    }
    this.#structure.add({ kind: what, mark, text: name, state: 'valid' });
  }

  #scanTag(): void {
    this.#structure.insertKey();
    this.#structure.mayKeyStart = false;
    this.#isAfterJson = false;
    const text = this.#structure.text;
    const { mark } = text;
    text.eat();
    if (text.peek() === '<') {
      text.eat();
      text.take((character) => /[\w!*'();/?:@&=+$,.%#[\]~-]/.test(character));
      if (text.peek() !== '>') throw this.#structure.fault('end of verbatim tag not found');
      text.eat();
    } else {
      text.take((character) => /[\w-]/.test(character));
      if (text.peek() === '!') {
        text.eat();
        const suffix = text.take((character) => /[\w*'();/?:@&=+$.%#~-]/.test(character));
        if (suffix === '') throw this.#structure.fault('tag handle with no suffix');
      } else {
        text.take((character) => /[\w*'();/?:@&=+$.%#~-]/.test(character));
      }
    }
    this.#structure.add({ kind: 'tag', mark, text: '', state: 'valid' });
  }

  #scanBlock(): void {
    const { mark } = this.#structure.text;
    eatBlock(this.#structure.text, this.#structure.indents.at(-1)?.column ?? -1);
    this.#structure.mayKeyStart = true;
    this.#mayScalarStart = true;
    this.#isAfterJson = false;
    this.#structure.add({ kind: 'scalar', mark, text: '', state: 'valid' });
  }

  #scanQuoted(): void {
    this.#startScalar();
    const { mark } = this.#structure.text;
    eatQuoted(this.#structure.text);
    this.#structure.mayKeyStart = false;
    this.#isAfterJson = true;
    this.#structure.add({ kind: 'scalar', mark, text: '', state: 'valid' });
  }

  #scanPlain(): void {
    const indent = this.#structure.isInFlow
      ? 0
      : (this.#structure.indents.at(-1)?.column ?? -1) + 1;
    this.#startScalar();
    const { mark } = this.#structure.text;
    const isOverAtLine = eatPlain(this.#structure.text, indent, this.#structure.isInFlow);
    if (isOverAtLine) this.#mayScalarStart = true;
    this.#structure.mayKeyStart = isOverAtLine;
    this.#isAfterJson = false;
    this.#structure.add({ kind: 'scalar', mark, text: '', state: 'valid' });
  }

  #startScalar(): void {
    if (!this.#mayScalarStart) throw this.#structure.fault('unexpected scalar');
    this.#structure.insertKey();
    this.#mayScalarStart = false;
  }

  #scanDirective(): void {
    this.#structure.popAllIndents();
    this.#structure.dropKeys();
    this.#structure.mayKeyStart = false;
    const { mark } = this.#structure.text;
    this.#structure.text.eat();
    const line = this.#structure.text.take((character) => character !== '\n');
    const words = line.replace(/(^|[ \t])#.*$/, '').trim();
    this.#structure.add({ kind: 'directive', mark, text: words, state: 'valid' });
  }

  #scanDocument(kind: 'document start' | 'document end'): void {
    this.#structure.popAllIndents();
    this.#structure.dropKeys();
    this.#structure.mayKeyStart = false;
    this.#isAfterJson = false;
    this.#structure.push(kind, 3);
  }
}
