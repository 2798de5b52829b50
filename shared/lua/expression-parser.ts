/** The expressions of a script, and what the parser of statements shares with them. */
import { FunctionScope } from './function-scope.ts';
import type { Lexer, Token } from './lexer.ts';
import { priorityOf } from './priorities.ts';
import type {
  Block,
  CallExpression,
  Expression,
  FunctionBody,
  TableField,
  Variable,
} from './syntax.ts';

/** As in LuaJIT. */
const LEVELS_MAX = 200;
const UNARY_PRIORITY = 8;
const UNARY = new Set(['not', '-', '#']);

export abstract class ExpressionParser {
  protected readonly lexer: Lexer;
  protected token: Token;
  #ahead: Token | undefined = undefined;
  #scope: FunctionScope | undefined = undefined;
  readonly #lastId = { value: 0 };
  #level = 0;

  constructor(lexer: Lexer) {
    this.lexer = lexer;
    this.token = lexer.next();
  }

  protected abstract block(): Block;

  protected get scope(): FunctionScope {
    if (this.#scope === undefined) throw new Error('no function is being parsed');
    return this.#scope;
  }

  protected advance(): void {
    this.token = this.#ahead ?? this.lexer.next();
    this.#ahead = undefined;
  }

  protected is(text: string): boolean {
    return this.token.kind === 'word' && this.token.text === text;
  }

  protected accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.advance();
    return true;
  }

  protected expect(text: string): void {
    if (!this.accept(text)) this.expected(text);
  }

  protected expectEnd(text: string, opener: string, line: number): void {
    if (this.accept(text)) return;
    if (line === this.token.line) this.expected(text);
    const near = `'${text}' expected (to close '${opener}' at line ${line})`;
    this.lexer.fail(near, this.token.text, this.token.line);
  }

  protected expected(text: string): never {
    this.lexer.fail(`'${text}' expected`, this.token.text, this.token.line);
  }

  protected unexpected(): never {
    this.lexer.fail('unexpected symbol', this.token.text, this.token.line);
  }

  protected name(): string {
    const { token } = this;
    if (token.kind !== 'name') this.expected('<name>');
    this.advance();
    return token.text;
  }

  protected nameAsString(): Expression {
    const { line } = this.token;
    return { kind: 'string', value: this.name(), line };
  }

  protected nested<Result>(parse: () => Result): Result {
    this.#level += 1;
    if (this.#level > LEVELS_MAX) this.lexer.fail('chunk has too many syntax levels', undefined);
    const result = parse();
    this.#level -= 1;
    return result;
  }

  protected declare(name: string): Variable {
    return this.scope.declare(name, this.lexer, this.#lastId);
  }

  protected variable(name: string, line: number): Expression {
    const variable = this.scope.find(name);
    if (variable === undefined) return { kind: 'global', name, line };
    return { kind: 'local', variable, isUpvalue: variable.owner !== this.scope.body, line };
  }

  protected beginFunction(isVararg: boolean): FunctionBody {
    const body: FunctionBody = {
      parameters: [],
      isVararg,
      parent: this.#scope?.body,
      captures: new Set(),
      variables: [],
      block: { statements: [] },
    };
    this.#scope = new FunctionScope(body, this.#scope);
    return body;
  }

  protected functionBody(isMethod: boolean, line: number): Expression {
    const names = isMethod ? ['self'] : [];
    this.expect('(');
    let isVararg = false;
    while (!this.is(')')) {
      isVararg = this.accept('...');
      if (isVararg) break;
      names.push(this.name());
      if (!this.accept(',')) break;
      if (this.is(')')) this.expected('<name>');
    }
    this.expect(')');
    const body = this.beginFunction(isVararg);
    this.scope.open();
    for (const name of names) body.parameters.push(this.declare(name));
    body.block = this.nested(() => this.block());
    this.scope.close(this.lexer);
    this.#scope = this.scope.parent;
    this.expectEnd('end', 'function', line);
    return { kind: 'function', body, line };
  }

  protected expressions(): Expression[] {
    const list = [this.expression()];
    while (this.accept(',')) list.push(this.expression());
    return list;
  }

  protected expression(limit = 0): Expression {
    return this.nested(() => this.#binary(limit));
  }

  #binary(limit: number): Expression {
    let left = this.#unary();
    for (;;) {
      const { token } = this;
      const [binds, right] = priorityOf(token);
      if (binds <= limit) return left;
      this.advance();
      const operand = this.expression(right);
      left = { kind: 'binary', operator: token.text, left, right: operand, line: token.line };
    }
  }

  #unary(): Expression {
    const { token } = this;
    if (token.kind !== 'word' || !UNARY.has(token.text)) return this.#simple();
    this.advance();
    const operand = this.expression(UNARY_PRIORITY);
    return { kind: 'unary', operator: token.text, operand, line: token.line };
  }

  #simple(): Expression {
    const { token } = this;
    const { line } = token;
    if (token.kind === 'number') {
      this.advance();
      return { kind: 'number', value: token.value, line };
    }
    if (token.kind === 'string') {
      this.advance();
      return { kind: 'string', value: token.text, line };
    }
    if (token.kind !== 'word') return this.suffixed();
    return this.#word(token.text, line) ?? this.suffixed();
  }

  #word(text: string, line: number): Expression | undefined {
    if (text === 'nil' || text === 'true' || text === 'false') {
      this.advance();
      return { kind: text, line };
    }
    if (text === '...') {
      if (!this.scope.body.isVararg) {
        this.lexer.fail("cannot use '...' outside a vararg function", '...');
      }
      this.advance();
      return { kind: 'vararg', line };
    }
    if (text === '{') return this.#table();
    if (text !== 'function') return undefined;
    this.advance();
    return this.functionBody(false, line);
  }

  /** A variable, or what is in brackets, with its indices and calls. */
  protected suffixed(): Expression {
    let result = this.#primary();
    for (;;) {
      const { token } = this;
      if (token.kind === 'string' || this.is('(') || this.is('{')) {
        result = this.#call(result, undefined);
        continue;
      }
      if (this.accept('.')) {
        result = { kind: 'index', object: result, key: this.nameAsString(), line: token.line };
      } else if (this.accept('[')) {
        const key = this.expression();
        this.expect(']');
        result = { kind: 'index', object: result, key, line: token.line };
      } else if (this.accept(':')) result = this.#call(result, this.name());
      else return result;
    }
  }

  #primary(): Expression {
    const { token } = this;
    if (token.kind === 'name') {
      this.advance();
      return this.variable(token.text, token.line);
    }
    if (!this.accept('(')) this.unexpected();
    const inner = this.expression();
    this.expectEnd(')', '(', token.line);
    return { kind: 'paren', inner, line: token.line };
  }

  #call(callee: Expression, method: string | undefined): CallExpression {
    const { token } = this;
    const { line } = token;
    if (token.kind === 'string') {
      this.advance();
      return {
        kind: 'call',
        callee,
        method,
        args: [{ kind: 'string', value: token.text, line }],
        line,
      };
    }
    if (this.is('{')) return { kind: 'call', callee, method, args: [this.#table()], line };
    this.#expectArguments();
    const args = this.is(')') ? [] : this.expressions();
    this.expectEnd(')', '(', line);
    return { kind: 'call', callee, method, args, line };
  }

  #expectArguments(): void {
    if (!this.accept('(')) {
      this.lexer.fail('function arguments expected', this.token.text, this.token.line);
    }
  }

  #table(): Expression {
    const { line } = this.token;
    this.advance();
    const fields: TableField[] = [];
    while (!this.is('}')) {
      fields.push(this.#field());
      if (!this.accept(',') && !this.accept(';')) break;
    }
    this.expectEnd('}', '{', line);
    return { kind: 'table', fields, line };
  }

  #field(): TableField {
    if (this.accept('[')) {
      const key = this.expression();
      this.expect(']');
      this.expect('=');
      return { key, value: this.expression() };
    }
    if (this.token.kind === 'name') {
      this.#ahead ??= this.lexer.next();
      if (this.#ahead.kind === 'word' && this.#ahead.text === '=') {
        const key = this.nameAsString();
        this.advance();
        return { key, value: this.expression() };
      }
    }
    return { key: undefined, value: this.expression() };
  }
}
