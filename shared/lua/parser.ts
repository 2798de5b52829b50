/** Parses a script: Lua 5.1 with what LuaJIT adds to it (goto, escapes, hexadecimal numbers). */
import { ExpressionParser } from './expression-parser.ts';
import { Lexer } from './lexer.ts';
import type { Block, Expression, FunctionBody, Statement, Variable } from './syntax.ts';

const BLOCK_ENDS = new Set(['end', 'else', 'elseif', 'until']);

/** The script as a function without parameters of its own. */
export function parseScript(source: string, chunk: string): FunctionBody {
  const parser = new StatementParser(new Lexer(source, chunk));
  return parser.script();
}

class StatementParser extends ExpressionParser {
  script(): FunctionBody {
    const body = this.beginFunction(true);
    this.scope.open();
    body.block = this.block();
    if (this.token.kind !== 'end') this.expected('<eof>');
    this.scope.close(this.lexer);
    return body;
  }

  protected override block(): Block {
    const statements: Statement[] = [];
    for (;;) {
      if (
        this.token.kind === 'end' ||
        (this.token.kind === 'word' && BLOCK_ENDS.has(this.token.text))
      )
        break;
      if (this.accept(';')) continue;
      if (this.is('return')) {
        statements.push(this.#return());
        break;
      }
      statements.push(this.nested(() => this.#statement()));
    }
    return { statements };
  }

  #scoped(isLoop = false): Block {
    this.scope.open(isLoop);
    const block = this.block();
    this.scope.close(this.lexer);
    return block;
  }

  #return(): Statement {
    this.advance();
    const ends =
      this.token.kind === 'end' ||
      this.is(';') ||
      (this.token.kind === 'word' && BLOCK_ENDS.has(this.token.text));
    const values = ends ? [] : this.expressions();
    this.accept(';');
    return { kind: 'return', values };
  }

  #statement(): Statement {
    if (this.token.kind !== 'word') return this.#expressionStatement();
    switch (this.token.text) {
      case 'if':
        return this.#if();
      case 'while':
        return this.#while();
      case 'do':
        return this.#do();
      case 'for':
        return this.#for();
      case 'repeat':
        return this.#repeat();
      case 'function':
        return this.#function();
      case 'local':
        return this.#local();
      case 'break':
        return this.#break();
      case 'goto':
        return this.#goto();
      case '::':
        return this.#label();
      default:
        return this.#expressionStatement();
    }
  }

  #if(): Statement {
    const opened = this.token.line;
    const branches: { condition: Expression; block: Block }[] = [];
    do {
      this.advance();
      const condition = this.expression();
      this.expect('then');
      branches.push({ condition, block: this.#scoped() });
    } while (this.is('elseif'));
    const otherwise = this.accept('else') ? this.#scoped() : undefined;
    this.expectEnd('end', 'if', opened);
    return { kind: 'if', branches, otherwise };
  }

  #while(): Statement {
    const opened = this.token.line;
    this.advance();
    const condition = this.expression();
    this.expect('do');
    const block = this.#scoped(true);
    this.expectEnd('end', 'while', opened);
    return { kind: 'while', condition, block };
  }

  #do(): Statement {
    const opened = this.token.line;
    this.advance();
    const block = this.#scoped();
    this.expectEnd('end', 'do', opened);
    return { kind: 'do', block };
  }

  #repeat(): Statement {
    const opened = this.token.line;
    this.advance();
    this.scope.open(true);
    const block = this.block();
    this.expectEnd('until', 'repeat', opened);
    const condition = this.expression();
    this.scope.close(this.lexer);
    return { kind: 'repeat', block, condition };
  }

  #for(): Statement {
    const { line } = this.token;
    this.advance();
    const names = [this.name()];
    if (this.is('=')) return this.#numberFor(names[0] ?? '', line);
    while (this.accept(',')) names.push(this.name());
    if (!this.is('in')) this.expected(names.length === 1 ? "=' or 'in" : 'in');
    this.advance();
    const values = this.expressions();
    this.expect('do');
    this.scope.open(true);
    const variables = names.map((name) => this.declare(name));
    const block = this.#scoped();
    this.scope.close(this.lexer);
    this.expectEnd('end', 'for', line);
    return { kind: 'generic_for', variables, values, block, line };
  }

  #numberFor(name: string, line: number): Statement {
    this.advance();
    const start = this.expression();
    this.expect(',');
    const limit = this.expression();
    const step = this.accept(',') ? this.expression() : undefined;
    this.expect('do');
    this.scope.open(true);
    const variable = this.declare(name);
    const block = this.#scoped();
    this.scope.close(this.lexer);
    this.expectEnd('end', 'for', line);
    return { kind: 'number_for', variable, range: [start, limit, step], block, line };
  }

  #function(): Statement {
    const { line } = this.token;
    this.advance();
    let target = this.variable(this.name(), line);
    let isMethod = false;
    while (this.is('.') || this.is(':')) {
      isMethod = this.is(':');
      this.advance();
      target = { kind: 'index', object: target, key: this.nameAsString(), line };
      if (isMethod) break;
    }
    if (target.kind === 'local') target.variable.isAssigned = true;
    const body = this.functionBody(isMethod, line);
    return { kind: 'assign', targets: [target], values: [body] };
  }

  #local(): Statement {
    this.advance();
    if (this.is('function')) {
      const { line } = this.token;
      this.advance();
      const variable = this.declare(this.name());
      // The function itself may use it, before it has its value.
      variable.isAssigned = true;
      return { kind: 'local_function', variable, body: this.functionBody(false, line) };
    }
    const names = [this.name()];
    while (this.accept(',')) names.push(this.name());
    const values = this.accept('=') ? this.expressions() : [];
    const variables: Variable[] = names.map((name) => this.declare(name));
    return { kind: 'local', variables, values };
  }

  #break(): Statement {
    if (!this.scope.isInLoop) this.lexer.fail('no loop to break', undefined, this.token.line);
    this.advance();
    return { kind: 'break' };
  }

  #goto(): Statement {
    const { line } = this.token;
    this.advance();
    const label = this.name();
    this.scope.goto(label, line);
    return { kind: 'goto', label, line };
  }

  #label(): Statement {
    this.advance();
    const label = this.name();
    this.expect('::');
    this.scope.label(label, this.lexer);
    return { kind: 'label', label };
  }

  #expressionStatement(): Statement {
    const first = this.suffixed();
    if (first.kind === 'call' && !this.is('=') && !this.is(','))
      return { kind: 'call', call: first };
    const targets = [first];
    while (this.accept(',')) targets.push(this.suffixed());
    for (const target of targets) this.#checkTarget(target);
    this.expect('=');
    return { kind: 'assign', targets, values: this.expressions() };
  }

  #checkTarget(target: Expression): void {
    if (target.kind === 'local') target.variable.isAssigned = true;
    else if (target.kind !== 'global' && target.kind !== 'index') this.unexpected();
  }
}
