/**
 * Parses expressions in CEL's own syntax, macros included. Operators become calls of the names that
 * protobuf Exprs use. Source: cel-spec, langdef.md.
 */
import { celTokens, syntaxError, type CelToken } from './lexer.ts';
import { CEL_DEPTH_MAX, CEL_TEXT_MAX, CelError, type CelSyntax } from './syntax.ts';

/** Throws CelError. */
export function parseCelText(text: string): CelSyntax {
  if (text.length > CEL_TEXT_MAX) throw new CelError('expression is too long');
  return new CelParser(text).parse();
}

const RELATIONS: ReadonlyMap<string, string> = new Map([
  ['<', '_<_'],
  ['<=', '_<=_'],
  ['>', '_>_'],
  ['>=', '_>=_'],
  ['==', '_==_'],
  ['!=', '_!=_'],
  ['in', '@in'],
]);
const SUMS: ReadonlyMap<string, string> = new Map([
  ['+', '_+_'],
  ['-', '_-_'],
]);
const PRODUCTS: ReadonlyMap<string, string> = new Map([
  ['*', '_*_'],
  ['/', '_/_'],
  ['%', '_%_'],
]);
const LEVELS: readonly ReadonlyMap<string, string>[] = [RELATIONS, SUMS, PRODUCTS];
const RESERVED: ReadonlySet<string> = new Set(
  (
    'as break const continue else for function if import let loop package namespace return var ' +
    'void while in true false null'
  ).split(' '),
);
const COMPREHENSIONS: ReadonlyMap<string, readonly number[]> = new Map([
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
  ['filter', [2]],
  ['map', [2, 3]],
]);

class CelParser {
  readonly #text: string;
  readonly #tokens: readonly CelToken[];
  #position = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = celTokens(text);
  }

  parse(): CelSyntax {
    const expression = this.#expression();
    if (this.#next.kind !== 'end') throw this.#mismatch("'<EOF>'");
    return expression;
  }

  get #next(): CelToken {
    return this.#tokens[this.#position] ?? { kind: 'end', text: '<EOF>', at: this.#text.length };
  }

  #mismatch(expected: string): CelError {
    const { at, text } = this.#next;
    return syntaxError(this.#text, at, `mismatched input '${text}' expecting ${expected}`);
  }

  #accept(sign: string): boolean {
    const { kind, text } = this.#next;
    if (kind !== 'sign' || text !== sign) return false;
    this.#position += 1;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#accept(sign)) throw this.#mismatch(`'${sign}'`);
  }

  #deeper<Result>(read: () => Result): Result {
    this.#depth += 1;
    if (this.#depth > CEL_DEPTH_MAX) {
      throw new CelError(`Expression recursion limit exceeded. limit: ${CEL_DEPTH_MAX}`);
    }
    const result = read();
    this.#depth -= 1;
    return result;
  }

  #expression(): CelSyntax {
    return this.#deeper(() => {
      const condition = this.#joined('||', () => this.#joined('&&', () => this.#binary(0)));
      if (!this.#accept('?')) return condition;
      const then = this.#joined('||', () => this.#joined('&&', () => this.#binary(0)));
      this.#expect(':');
      return { kind: 'call', name: '_?_:_', args: [condition, then, this.#expression()] };
    });
  }

  /** All terms of a chain in one call, however many they are. */
  #joined(sign: '||' | '&&', term: () => CelSyntax): CelSyntax {
    const first = term();
    const args = [first];
    while (this.#accept(sign)) args.push(term());
    return args.length === 1 ? first : { kind: 'call', name: `_${sign}_`, args };
  }

  #binary(level: number): CelSyntax {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    let length = 0;
    for (;;) {
      const { kind, text } = this.#next;
      const name = kind === 'sign' || text === 'in' ? operators.get(text) : undefined;
      if (name === undefined || (kind !== 'sign' && kind !== 'name')) return left;
      length += 1;
      if (length > CEL_DEPTH_MAX) throw new CelError('expression is too deep');
      this.#position += 1;
      left = { kind: 'call', name, args: [left, this.#binary(level + 1)] };
    }
  }

  #unary(): CelSyntax {
    if (this.#accept('!')) {
      return { kind: 'call', name: '!_', args: [this.#deeper(() => this.#unary())] };
    }
    if (!this.#accept('-')) return this.#member();
    const { kind, text } = this.#next;
    if (kind === 'int' || kind === 'double') {
      this.#position += 1;
      return this.#members(this.#number(kind, `-${text}`));
    }
    return { kind: 'call', name: '-_', args: [this.#deeper(() => this.#unary())] };
  }

  #member(): CelSyntax {
    return this.#members(this.#primary());
  }

  #members(first: CelSyntax): CelSyntax {
    let operand = first;
    for (let length = 0; ; length += 1) {
      if (length > CEL_DEPTH_MAX) throw new CelError('expression is too deep');
      if (this.#accept('.')) {
        operand = this.#field(operand);
      } else if (this.#accept('[')) {
        operand = { kind: 'call', name: '_[_]', args: [operand, this.#expression()] };
        this.#expect(']');
      } else if (nameOf(operand) !== undefined && this.#accept('{')) {
        operand = this.#message(nameOf(operand) ?? '');
      } else {
        return operand;
      }
    }
  }

  #field(operand: CelSyntax): CelSyntax {
    if (this.#next.text === '?') {
      throw syntaxError(this.#text, this.#next.at, "unsupported syntax '.?'");
    }
    const name = this.#name();
    if (!this.#accept('(')) return { kind: 'select', operand, field: name, isTest: false };
    const args = this.#list(')', () => this.#expression());
    if (COMPREHENSIONS.get(name)?.includes(args.length) === true) return { kind: 'comprehension' };
    return { kind: 'call', name, receiver: operand, args };
  }

  #name(): string {
    const { kind, text } = this.#next;
    if (
      kind !== 'name' ||
      text === 'in' ||
      text === 'true' ||
      text === 'false' ||
      text === 'null'
    ) {
      throw this.#mismatch('IDENTIFIER');
    }
    this.#position += 1;
    return text;
  }

  #list<Item>(end: string, item: () => Item): Item[] {
    const items: Item[] = [];
    while (!this.#accept(end)) {
      items.push(item());
      if (this.#accept(',')) {
        if (end === ')' && this.#next.text === ')') throw this.#mismatch('an expression');
        continue;
      }
      this.#expect(end);
      break;
    }
    return items;
  }

  #message(name: string): CelSyntax {
    this.#list('}', () => {
      this.#name();
      this.#expect(':');
      return this.#expression();
    });
    return { kind: 'message', name };
  }

  #primary(): CelSyntax {
    const { kind, text } = this.#next;
    switch (kind) {
      case 'int':
      case 'uint':
      case 'double':
        this.#position += 1;
        return this.#number(kind, text);
      case 'string':
      case 'bytes':
        this.#position += 1;
        return { kind: 'constant', constant: { type: kind, value: text } };
      case 'name':
        return this.#named();
      default:
        return this.#bracketed();
    }
  }

  #bracketed(): CelSyntax {
    if (this.#accept('(')) {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#accept('['))
      return { kind: 'list', items: this.#list(']', () => this.#expression()) };
    if (this.#accept('{')) {
      const entries = this.#list('}', (): readonly [CelSyntax, CelSyntax] => {
        const key = this.#expression();
        this.#expect(':');
        return [key, this.#expression()];
      });
      return { kind: 'map', entries };
    }
    if (this.#accept('.')) return this.#named();
    throw this.#mismatch('an expression');
  }

  #named(): CelSyntax {
    const { kind, text, at } = this.#next;
    if (kind !== 'name') throw this.#mismatch('IDENTIFIER');
    this.#position += 1;
    if (text === 'null') return { kind: 'constant', constant: { type: 'null' } };
    if (text === 'true' || text === 'false') {
      return { kind: 'constant', constant: { type: 'bool', value: text === 'true' } };
    }
    if (RESERVED.has(text)) {
      throw syntaxError(this.#text, at, `reserved identifier: ${text}`);
    }
    if (!this.#accept('(')) return { kind: 'name', name: text };
    const args = this.#list(')', () => this.#expression());
    return text === 'has' && args.length === 1
      ? this.#test(args[0], at)
      : { kind: 'call', name: text, args };
  }

  #test(argument: CelSyntax | undefined, at: number): CelSyntax {
    if (argument?.kind === 'select') return { ...argument, isTest: true };
    throw syntaxError(this.#text, at, 'invalid argument to has() macro');
  }

  #number(kind: 'int' | 'uint' | 'double', text: string): CelSyntax {
    if (kind === 'double') {
      return { kind: 'constant', constant: { type: 'double', value: Number(text) } };
    }
    const isNegative = text.startsWith('-');
    const digits = BigInt(text.replace('-', '').replace(/u$/i, ''));
    const value = isNegative ? -digits : digits;
    const fits =
      kind === 'uint' ? BigInt.asUintN(64, value) === value : BigInt.asIntN(64, value) === value;
    if (!fits) {
      throw syntaxError(this.#text, this.#next.at, `invalid ${kind} literal`);
    }
    return { kind: 'constant', constant: { type: kind, value: String(value) } };
  }
}

/** The name that `a.b.c` is; undefined for everything else. */
function nameOf(syntax: CelSyntax): string | undefined {
  if (syntax.kind === 'name') return syntax.name;
  if (syntax.kind !== 'select' || syntax.isTest) return undefined;
  const operand = nameOf(syntax.operand);
  return operand === undefined ? undefined : `${operand}.${syntax.field}`;
}
