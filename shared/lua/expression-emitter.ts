/** The JavaScript of a script's expressions; emitter.ts says what the names in it mean. */
import { isMulti, valueOf } from './emitted-names.ts';
import type { CallExpression, Expression, FunctionBody, TableField } from './syntax.ts';
import type { Site } from './values.ts';

export interface EmittedParts {
  readonly chunk: string;
  readonly functions: string[];
  readonly sites: Site[];
}

/** Where something is assigned to; its object and key are known before the values are. */
interface Place {
  readonly prepare: string;
  readonly store: (value: string) => string;
}

interface Invocation {
  readonly args: string;
  readonly site: string;
}

const ARITHMETIC: ReadonlyMap<string, string> = new Map([
  ['+', 'add'],
  ['-', 'subtract'],
  ['*', 'multiply'],
  ['/', 'divide'],
  ['%', 'modulo'],
  ['^', 'power'],
  ['..', 'concat'],
]);
const COMPARISONS: ReadonlyMap<string, readonly [name: string, isSwapped: boolean]> = new Map([
  ['<', ['less', false]],
  ['<=', ['lessOrEqual', false]],
  ['>', ['less', true]],
  ['>=', ['lessOrEqual', true]],
]);

export abstract class ExpressionEmitter {
  protected readonly body: FunctionBody;
  protected readonly parts: EmittedParts;
  protected temporaries = 0;
  #used = 0;

  constructor(body: FunctionBody, parts: EmittedParts) {
    this.body = body;
    this.parts = parts;
  }

  protected abstract closure(body: FunctionBody): string;

  protected resetTemporaries(): void {
    this.#used = 0;
  }

  protected temporary(): string {
    this.#used += 1;
    this.temporaries = Math.max(this.temporaries, this.#used);
    return `t${this.#used}`;
  }

  protected site({
    line,
    name = '',
    right = '',
    isTail = false,
    isMethod = false,
  }: Partial<Site> & { line: number }): string {
    const { chunk, sites } = this.parts;
    sites.push({ chunk, line, name, right, isTail, isMethod });
    return `K[${sites.length - 1}]`;
  }

  /** One value. */
  protected single(expression: Expression): string {
    if (expression.kind === 'vararg') return 'va[0]';
    const code = this.results(expression);
    if (expression.kind !== 'call') return code;
    const result = this.temporary();
    return `((${result} = ${code}) instanceof Array ? ${result}[0] : ${result})`;
  }

  /** Whatever number of values the expression gives. */
  protected results(expression: Expression, isTail = false): string {
    switch (expression.kind) {
      case 'nil':
        return 'undefined';
      case 'true':
      case 'false':
        return expression.kind;
      case 'vararg':
        return 'va';
      case 'number':
        return String(expression.value);
      case 'string':
        return JSON.stringify(expression.value);
      case 'function':
        return this.closure(expression.body);
      case 'local':
        return valueOf(expression.variable);
      case 'global':
        return `R.global(${JSON.stringify(expression.name)})`;
      case 'call':
        return this.#call(expression, isTail);
      default:
        return this.#composed(expression);
    }
  }

  #composed(
    expression: Extract<Expression, { kind: 'index' | 'paren' | 'unary' | 'binary' | 'table' }>,
  ): string {
    switch (expression.kind) {
      case 'index': {
        const { object, key, line } = expression;
        const site = this.site({ line, name: describe(object) });
        return `R.index(${this.single(object)}, ${this.single(key)}, ${site})`;
      }
      case 'paren':
        return this.single(expression.inner);
      case 'unary':
        return this.#unary(expression);
      case 'binary':
        return this.#binary(expression);
      case 'table':
        return this.#table(expression.fields);
    }
  }

  /** A JavaScript condition. */
  protected condition(expression: Expression): string {
    if (expression.kind === 'unary' && expression.operator === 'not') {
      return `!(${this.condition(expression.operand)})`;
    }
    if (expression.kind === 'binary') {
      const { operator, left, right } = expression;
      if (operator === 'and' || operator === 'or') {
        const joint = operator === 'and' ? '&&' : '||';
        return `(${this.condition(left)}) ${joint} (${this.condition(right)})`;
      }
      if (COMPARISONS.has(operator) || operator === '==' || operator === '~=')
        return this.single(expression);
    }
    const value = this.temporary();
    return `(${value} = ${this.single(expression)}) !== undefined && ${value} !== false`;
  }

  /** As arguments: the last one gives all that it has. */
  protected list(expressions: readonly Expression[]): string {
    return expressions
      .map((each, index) => {
        if (index < expressions.length - 1 || !isMulti(each)) return this.single(each);
        return each.kind === 'vararg' ? '...va' : `...R.list(${this.results(each)})`;
      })
      .join(', ');
  }

  protected store(target: Expression, value: Expression): string {
    if (target.kind === 'local') return `${valueOf(target.variable)} = ${this.single(value)};`;
    if (target.kind === 'global') {
      return `R.setGlobal(${JSON.stringify(target.name)}, ${this.single(value)});`;
    }
    const { prepare, store } = this.place(target);
    return prepare + store(this.single(value));
  }

  protected place(target: Expression): Place {
    if (target.kind === 'local') {
      return { prepare: '', store: (value) => `${valueOf(target.variable)} = ${value};` };
    }
    if (target.kind === 'global') {
      const name = JSON.stringify(target.name);
      return { prepare: '', store: (value) => `R.setGlobal(${name}, ${value});` };
    }
    if (target.kind !== 'index') throw new Error('the parser lets nothing else be assigned to');
    const { object, key, line } = target;
    const site = this.site({ line, name: describe(object) });
    const [held, at] = [this.temporary(), this.temporary()];
    return {
      prepare: `${held} = ${this.single(object)}; ${at} = ${this.single(key)};`,
      store: (value) => `R.setIndex(${held}, ${at}, ${value}, ${site});`,
    };
  }

  /** Calls what a name stands for. */
  protected invocation(callee: string, { args, site }: Invocation): string {
    const result = this.temporary();
    const waits = `(R.enter(${site}), ${result} = yield* ${callee}.begin(${args}), R.depth--, ${result})`;
    const other = `yield* R.callOther(${callee}, ${site}, [${args}])`;
    return `(typeof ${callee} === 'function' ? (R.site = ${site}, ${callee}(${args})) : ${callee} instanceof F ? ${waits} : ${other})`;
  }

  #call({ callee, method, args, line }: CallExpression, isTail: boolean): string {
    const called = this.temporary();
    const isMethod = method !== undefined;
    const name = isMethod ? `method '${method}'` : describe(callee);
    const held: string[] = [];
    let first = `${called} = ${isMethod ? '' : this.single(callee)}`;
    if (isMethod) {
      const self = this.temporary();
      const site = this.site({ line, name: describe(callee) });
      first = `${self} = ${this.single(callee)}, ${called} = R.index(${self}, ${JSON.stringify(method)}, ${site})`;
      held.push(self);
    }
    const before = [first];
    for (const [index, arg] of args.entries()) {
      const isLast = index === args.length - 1;
      if (isLast && isMulti(arg)) {
        const rest = this.temporary();
        before.push(`${rest} = ${arg.kind === 'vararg' ? 'va' : `R.list(${this.results(arg)})`}`);
        held.push(`...${rest}`);
      } else if (isConstant(arg)) held.push(this.single(arg));
      else {
        const value = this.temporary();
        before.push(`${value} = ${this.single(arg)}`);
        held.push(value);
      }
    }
    const site = this.site({ line, name, isTail, isMethod });
    return `(${before.join(', ')}, ${this.invocation(called, { args: held.join(', '), site })})`;
  }

  #unary({ operator, operand, line }: Extract<Expression, { kind: 'unary' }>): string {
    if (operator === 'not') return `!(${this.condition(operand)})`;
    if (operator === '-' && operand.kind === 'number') return `(-${operand.value})`;
    const site = this.site({ line, name: describe(operand) });
    return `R.${operator === '-' ? 'negate' : 'length'}(${this.single(operand)}, ${site})`;
  }

  #binary({ operator, left, right, line }: Extract<Expression, { kind: 'binary' }>): string {
    if (operator === 'and' || operator === 'or') {
      const value = this.temporary();
      const isFalse = `(${value} = ${this.single(left)}) === undefined || ${value} === false`;
      const [no, yes] =
        operator === 'and' ? [value, this.single(right)] : [this.single(right), value];
      return `(${isFalse} ? ${no} : ${yes})`;
    }
    const [first, second] = [this.single(left), this.single(right)];
    if (operator === '==') return `R.equal(${first}, ${second})`;
    if (operator === '~=') return `!R.equal(${first}, ${second})`;
    const site = this.site({ line, name: describe(left), right: describe(right) });
    const comparison = COMPARISONS.get(operator);
    if (comparison === undefined)
      return `R.${ARITHMETIC.get(operator)}(${first}, ${second}, ${site})`;
    const [name, isSwapped] = comparison;
    if (!isSwapped) return `R.${name}(${first}, ${second}, ${site})`;
    const value = this.temporary();
    return `(${value} = ${first}, R.${name}(${second}, ${value}, ${site}))`;
  }

  #table(fields: readonly TableField[]): string {
    if (fields.length === 0) return 'R.table()';
    const table = this.temporary();
    const parts = [`${table} = R.table()`];
    let place = 0;
    for (const [index, { key, value }] of fields.entries()) {
      if (key !== undefined) {
        parts.push(`R.put(${table}, ${this.single(key)}, ${this.single(value)})`);
        continue;
      }
      place += 1;
      const isLast = index === fields.length - 1;
      if (isLast && isMulti(value))
        parts.push(`R.putList(${table}, ${place}, ${this.results(value)})`);
      else parts.push(`R.put(${table}, ${place}, ${this.single(value)})`);
    }
    return `(${parts.join(', ')}, ${table})`;
  }
}

function isConstant({ kind }: Expression): boolean {
  return ['nil', 'true', 'false', 'number', 'string'].includes(kind);
}

/** What errors call an expression. */
function describe(expression: Expression): string {
  switch (expression.kind) {
    case 'local':
      return `${expression.isUpvalue ? 'upvalue' : 'local'} '${expression.variable.name}'`;
    case 'global':
      return `global '${expression.name}'`;
    case 'index':
      return expression.key.kind === 'string' ? `field '${expression.key.value}'` : '';
    default:
      return '';
  }
}
