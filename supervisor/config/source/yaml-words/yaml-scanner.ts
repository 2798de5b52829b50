/**
 * Tokens of a YAML text as Envoy's reader makes them, one by one, so that what it refuses first is
 * what is found first: simple keys are told apart when their colon comes, on the same line and
 * within 1,024 characters; block collections open and close with the indentation.
 */
import { isBlank, isOneOf, isSpaceOrEnd, YamlFault, type Mark } from './yaml-characters.ts';
import { eatBlock, eatPlain, eatQuoted } from './yaml-scalars-scan.ts';
import { YamlStructure } from './yaml-structure.ts';

const MAP_VALUE = 'illegal map value';

export class YamlScanner extends YamlStructure {
  #mayScalarStart = true;
  /** A colon right behind a quoted scalar or a closed bracket needs no blank. */
  #isAfterJson = false;

  constructor(text: string) {
    super(text);
  }

  /** Where reading has come to. */
  get mark(): Mark {
    return this.text.mark;
  }

  protected scan(): void {
    this.#skipToToken();
    this.popIndents();
    const text = this.text;
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
    this.popAllIndents();
    this.dropKeys();
    this.mayKeyStart = false;
    this.isEnded = true;
  }

  #skipToToken(): void {
    const text = this.text;
    for (;;) {
      while (isBlank(text.peek())) {
        if (text.peek() === '\t' && !this.isInFlow) this.mayKeyStart = false;
        text.eat();
      }
      if (text.peek() === '#') text.take((character) => character !== '\n');
      if (text.peek() !== '\n') return;
      text.eat();
      this.dropKey();
      this.#mayScalarStart = true;
      if (!this.isInFlow) this.mayKeyStart = true;
    }
  }

  #scanFlow(): boolean {
    const character = this.text.peek();
    if (character === '[' || character === '{') {
      this.insertKey();
      this.mayKeyStart = true;
      this.#mayScalarStart = true;
      this.#isAfterJson = false;
      const kind = character === '[' ? 'sequence' : 'map';
      this.flows.push(kind);
      this.push(`flow ${kind}`, 1);
      return true;
    }
    if (character === ']' || character === '}') {
      this.#endFlow(character === ']' ? 'sequence' : 'map');
      return true;
    }
    if (character !== ',') return false;
    if (this.text.column === 0) {
      throw this.fault('plain value cannot start with flow indicator character');
    }
    if (!this.isInFlow && !this.#mayScalarStart) throw this.fault('unexpected scalar');
    this.#endFlowItem();
    this.mayKeyStart = true;
    this.#mayScalarStart = true;
    this.#isAfterJson = false;
    this.push('flow entry', 1);
    return true;
  }

  #endFlow(kind: 'sequence' | 'map'): void {
    if (!this.isInFlow) throw this.fault('illegal flow end');
    this.#endFlowItem();
    this.mayKeyStart = false;
    this.#mayScalarStart = true;
    this.#isAfterJson = true;
    const { mark } = this.text;
    this.push(`flow ${kind} end`, 1);
    if (this.flows.pop() !== kind) throw new YamlFault(mark, 'illegal flow end');
  }

  #endFlowItem(): void {
    const kind = this.flows.at(-1);
    if (kind === 'map' && this.verifyKey()) this.push('value', 0);
    else if (kind === 'sequence') this.dropKey();
  }

  /** `-`, `?` and `:` where they stand for something. */
  #scanIndicator(): boolean {
    const character = this.text.peek();
    const next = this.text.peek(1);
    if (character === '-' && isSpaceOrEnd(next)) {
      if (this.isInFlow || !this.mayKeyStart) throw this.fault('illegal block entry');
      this.pushIndent('sequence');
      this.mayKeyStart = true;
      this.#mayScalarStart = true;
      this.#isAfterJson = false;
      this.push('block entry', 1);
      return true;
    }
    if (character === '?' && (isSpaceOrEnd(next) || (this.isInFlow && isOneOf(',]}', next)))) {
      if (!this.isInFlow) {
        if (!this.mayKeyStart) throw this.fault('illegal map key');
        this.pushIndent('map');
      }
      this.mayKeyStart = !this.isInFlow;
      this.#mayScalarStart = true;
      this.push('key', 1);
      return true;
    }
    if (character !== ':' || !this.#isValueSign(next)) return false;
    this.#scanValue();
    return true;
  }

  #isValueSign(next: string): boolean {
    if (isSpaceOrEnd(next)) return true;
    return this.isInFlow && (this.#isAfterJson || isOneOf(',]}', next));
  }

  #scanValue(): void {
    const isSimple = this.verifyKey();
    this.#isAfterJson = false;
    if (isSimple) {
      this.mayKeyStart = false;
    } else {
      if (!this.isInFlow) {
        if (!this.mayKeyStart) throw this.fault(MAP_VALUE);
        this.pushIndent('map');
      }
      this.mayKeyStart = !this.isInFlow;
    }
    this.#mayScalarStart = true;
    this.push('value', 1);
  }

  #scanContent(): void {
    const text = this.text;
    const character = text.peek();
    if (character === '*' || character === '&') this.#scanAnchor(character === '*');
    else if (character === '!') this.#scanTag();
    else if (isOneOf('|>', character) && !this.isInFlow) this.#scanBlock();
    else if (isOneOf('\'"', character)) this.#scanQuoted();
    else if (isOneOf(this.isInFlow ? '?,[]{}#&*!|>\'"%@`' : ',[]{}#&*!|>\'"%@`', character)) {
      throw this.fault('unknown token');
    } else this.#scanPlain();
  }

  #scanAnchor(isAlias: boolean): void {
    this.insertKey();
    this.mayKeyStart = false;
    this.#isAfterJson = false;
    const { mark } = this.text;
    const what = isAlias ? 'alias' : 'anchor';
    this.text.eat();
    const name = this.text.take(
      (character) => !isSpaceOrEnd(character) && !isOneOf('[]{},', character),
    );
    if (name === '') throw this.fault(`${what} not found after ${isAlias ? '*' : '&'}`);
    const next = this.text.peek();
    if (!isSpaceOrEnd(next) && !isOneOf('?:,]}%@`', next)) {
      throw this.fault(`illegal character found while scanning ${what}`);
    }
    this.add({ kind: what, mark, text: name, state: 'valid' });
  }

  #scanTag(): void {
    this.insertKey();
    this.mayKeyStart = false;
    this.#isAfterJson = false;
    const text = this.text;
    const { mark } = text;
    text.eat();
    if (text.peek() === '<') {
      text.eat();
      text.take((character) => /[\w!*'();/?:@&=+$,.%#[\]~-]/.test(character));
      if (text.peek() !== '>') throw this.fault('end of verbatim tag not found');
      text.eat();
    } else {
      text.take((character) => /[\w-]/.test(character));
      if (text.peek() === '!') {
        text.eat();
        const suffix = text.take((character) => /[\w*'();/?:@&=+$.%#~-]/.test(character));
        if (suffix === '') throw this.fault('tag handle with no suffix');
      } else {
        text.take((character) => /[\w*'();/?:@&=+$.%#~-]/.test(character));
      }
    }
    this.add({ kind: 'tag', mark, text: '', state: 'valid' });
  }

  #scanBlock(): void {
    const { mark } = this.text;
    eatBlock(this.text, this.indents.at(-1)?.column ?? -1);
    this.mayKeyStart = true;
    this.#mayScalarStart = true;
    this.#isAfterJson = false;
    this.add({ kind: 'scalar', mark, text: '', state: 'valid' });
  }

  #scanQuoted(): void {
    this.#startScalar();
    const { mark } = this.text;
    eatQuoted(this.text);
    this.mayKeyStart = false;
    this.#isAfterJson = true;
    this.add({ kind: 'scalar', mark, text: '', state: 'valid' });
  }

  #scanPlain(): void {
    const indent = this.isInFlow ? 0 : (this.indents.at(-1)?.column ?? -1) + 1;
    this.#startScalar();
    const { mark } = this.text;
    const isOverAtLine = eatPlain(this.text, indent, this.isInFlow);
    if (isOverAtLine) this.#mayScalarStart = true;
    this.mayKeyStart = isOverAtLine;
    this.#isAfterJson = false;
    this.add({ kind: 'scalar', mark, text: '', state: 'valid' });
  }

  #startScalar(): void {
    if (!this.#mayScalarStart) throw this.fault('unexpected scalar');
    this.insertKey();
    this.#mayScalarStart = false;
  }

  #scanDirective(): void {
    this.popAllIndents();
    this.dropKeys();
    this.mayKeyStart = false;
    const { mark } = this.text;
    this.text.eat();
    const line = this.text.take((character) => character !== '\n');
    const words = line.replace(/(^|[ \t])#.*$/, '').trim();
    this.add({ kind: 'directive', mark, text: words, state: 'valid' });
  }

  #scanDocument(kind: 'document start' | 'document end'): void {
    this.popAllIndents();
    this.dropKeys();
    this.mayKeyStart = false;
    this.#isAfterJson = false;
    this.push(kind, 3);
  }
}
