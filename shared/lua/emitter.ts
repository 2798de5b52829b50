/**
 * Makes JavaScript of a parsed script: every function becomes a generator function, so that it can
 * wait anywhere. Nothing of a script's text gets into the code but numbers and JSON strings: its
 * variables have numbers for names.
 *
 * The code's own names: R the state (lua-state.ts), K the sites, F the class of functions, N no
 * values; v… variables of the script, t… values of one expression, k… of a loop, s… where a block with
 * labels goes on.
 */
import { declared, isCell, isMulti, nameOf, numbered, valueOf } from './emitted-names.ts';
import { type EmittedParts, ExpressionEmitter } from './expression-emitter.ts';
import type { Block, Expression, FunctionBody, Statement, Variable } from './syntax.ts';
import type { Site } from './values.ts';

export interface Emitted {
  readonly code: string;
  readonly sites: readonly Site[];
}

const TAKE_STEP = 'if (--R.fuel < 0) yield* R.pause();';

export function emitScript(body: FunctionBody, chunk: string): Emitted {
  const parts: EmittedParts = { chunk, functions: [], sites: [] };
  const main = new FunctionEmitter(body, parts).emit();
  return { code: `${parts.functions.join('\n')}\nreturn P${main}();`, sites: parts.sites };
}

interface LabelledBlock {
  readonly labels: ReadonlyMap<string, number>;
  readonly id: number;
}

class FunctionEmitter extends ExpressionEmitter {
  readonly #loops: number[] = [];
  readonly #labelled: LabelledBlock[] = [];
  #lastLabel = 0;
  #lastLoopValue = 0;

  /** Gives the number of the function's factory. */
  emit(): number {
    const { body } = this;
    const block = this.#block(body.block);
    const parameters = body.parameters.map(nameOf);
    if (body.isVararg) parameters.push('...va');
    const cells = body.parameters
      .filter(isCell)
      .map((each) => `${nameOf(each)} = {v: ${nameOf(each)}};`);
    const own = new Set(body.parameters);
    const locals = [
      ...body.variables.filter((each) => !own.has(each)).map(nameOf),
      ...numbered('t', this.temporaries),
      ...numbered('k', this.#lastLoopValue),
      ...numbered('s', this.#lastLabel),
    ];
    const index = this.parts.functions.length;
    const captures = [...body.captures].map(nameOf).join(', ');
    this.parts.functions.push(
      [
        `const P${index} = (${captures}) => function* (${parameters.join(', ')}) {`,
        locals.length === 0 ? '' : `let ${locals.join(', ')};`,
        cells.join(' '),
        TAKE_STEP,
        block,
        'return N; };',
      ].join('\n'),
    );
    return index;
  }

  protected override closure(body: FunctionBody): string {
    const index = new FunctionEmitter(body, this.parts).emit();
    const captures = [...body.captures].map(nameOf).join(', ');
    return `R.closure([${captures}], P${index}(${captures}))`;
  }

  #block({ statements }: Block): string {
    const labels = new Map<string, number>();
    for (const each of statements)
      if (each.kind === 'label') labels.set(each.label, labels.size + 1);
    if (labels.size === 0) return statements.map((each) => this.#statement(each)).join('\n');
    const id = ++this.#lastLabel;
    this.#labelled.push({ labels, id });
    const lines = statements.map((each) =>
      each.kind === 'label' ? `case ${labels.get(each.label)}:` : this.#statement(each),
    );
    this.#labelled.pop();
    const code = lines.join('\n');
    return `s${id} = 0; B${id}: for (;;) { ${TAKE_STEP} switch (s${id}) { case 0:\n${code}\n} break B${id}; }`;
  }

  #statement(statement: Statement): string {
    this.resetTemporaries();
    switch (statement.kind) {
      case 'local':
        return this.#local(statement.variables, statement.values);
      case 'local_function': {
        const name = nameOf(statement.variable);
        const value = this.single(statement.body);
        if (!isCell(statement.variable)) return `${name} = ${value};`;
        return `${name} = {v: undefined}; ${name}.v = ${value};`;
      }
      case 'assign':
        return this.#assign(statement.targets, statement.values);
      case 'call':
        return `${this.results(statement.call)};`;
      case 'return':
        return this.#return(statement.values);
      case 'break':
        return `break L${this.#loops.at(-1)};`;
      case 'goto':
        return this.#goto(statement.label);
      case 'label':
        return '';
      default:
        return this.#compound(statement);
    }
  }

  #compound(
    statement: Extract<
      Statement,
      { kind: 'do' | 'while' | 'repeat' | 'if' | 'number_for' | 'generic_for' }
    >,
  ): string {
    switch (statement.kind) {
      case 'do':
        return this.#block(statement.block);
      case 'while': {
        const condition = this.condition(statement.condition);
        return this.#loop(`while (${condition})`, () => this.#block(statement.block));
      }
      case 'repeat':
        return this.#loop('for (;;)', (label) => {
          const block = this.#block(statement.block);
          this.resetTemporaries();
          return `${block}\nif (${this.condition(statement.condition)}) break ${label};`;
        });
      case 'if':
        return this.#if(statement);
      case 'number_for':
        return this.#numberFor(statement);
      case 'generic_for':
        return this.#genericFor(statement);
    }
  }

  #if({ branches, otherwise }: Extract<Statement, { kind: 'if' }>): string {
    const parts = branches.map(({ condition, block }) => {
      this.resetTemporaries();
      return `if (${this.condition(condition)}) {\n${this.#block(block)}\n}`;
    });
    const end = otherwise === undefined ? '' : ` else {\n${this.#block(otherwise)}\n}`;
    return parts.join(' else ') + end;
  }

  /** `head` is a loop's own; what `makeBody` gives is done in it. */
  #loop(head: string, makeBody: (label: string) => string): string {
    const id = ++this.#lastLabel;
    this.#loops.push(id);
    const body = makeBody(`L${id}`);
    this.#loops.pop();
    return `L${id}: ${head} { ${TAKE_STEP}\n${body}\n}`;
  }

  #numberFor(statement: Extract<Statement, { kind: 'number_for' }>): string {
    const { range, variable, block, line } = statement;
    const [at, limit, step] = [this.#loopValue(), this.#loopValue(), this.#loopValue()];
    const site = this.site({ line });
    const [start, end, by] = range;
    const values = [
      `${at} = R.forNumber(${this.single(start)}, 'initial', ${site});`,
      `${limit} = R.forNumber(${this.single(end)}, 'limit', ${site});`,
      `${step} = ${by === undefined ? '1' : `R.forNumber(${this.single(by)}, 'step', ${site})`};`,
    ];
    const goesOn = `${step} > 0 ? ${at} <= ${limit} : ${at} >= ${limit}`;
    const head = `for (; ${by === undefined ? `${at} <= ${limit}` : goesOn}; ${at} += ${step})`;
    const loop = this.#loop(head, () => `${declared(variable, at)}\n${this.#block(block)}`);
    return `${values.join('\n')}\n${loop}`;
  }

  #genericFor(statement: Extract<Statement, { kind: 'generic_for' }>): string {
    const { variables, values, block, line } = statement;
    const control = [this.#loopValue(), this.#loopValue(), this.#loopValue()];
    const [iterator = '', state = '', at = ''] = control;
    const found = this.#loopValue();
    const start = this.#adjusted(values, control);
    const site = this.site({ line });
    const called = this.invocation(iterator, { args: `${state}, ${at}`, site });
    const loop = this.#loop('for (;;)', (label) => {
      this.resetTemporaries();
      const names = variables.map((each, index) =>
        declared(
          each,
          `${found} instanceof Array ? ${found}[${index}] : ${index === 0 ? found : 'undefined'}`,
        ),
      );
      const first = variables[0] === undefined ? 'undefined' : valueOf(variables[0]);
      return [
        `${found} = ${called};`,
        ...names,
        `if (${first} === undefined) break ${label};`,
        `${at} = ${first};`,
        this.#block(block),
      ].join('\n');
    });
    return `${start}\n${loop}`;
  }

  #goto(label: string): string {
    const block = this.#labelled.findLast(({ labels }) => labels.has(label));
    return `s${block?.id} = ${block?.labels.get(label)}; continue B${block?.id};`;
  }

  #return(values: readonly Expression[]): string {
    const [only] = values;
    if (only === undefined) return 'return N;';
    if (values.length > 1) return `return [${this.list(values)}];`;
    if (only.kind === 'call') return `return ${this.results(only, true)};`;
    return `return ${this.results(only)};`;
  }

  #local(variables: readonly Variable[], values: readonly Expression[]): string {
    const [variable] = variables;
    if (variables.length === 1 && values.length <= 1 && variable !== undefined) {
      return declared(variable, values[0] === undefined ? 'undefined' : this.single(values[0]));
    }
    const names = variables.map(() => this.temporary());
    const lines = variables.map((each, index) => declared(each, names[index] ?? 'undefined'));
    return `${this.#adjusted(values, names)}\n${lines.join('\n')}`;
  }

  #assign(targets: readonly Expression[], values: readonly Expression[]): string {
    const [target] = targets;
    const [value] = values;
    if (
      targets.length === 1 &&
      values.length === 1 &&
      target !== undefined &&
      value !== undefined
    ) {
      return this.store(target, value);
    }
    const places = targets.map((each) => this.place(each));
    const names = targets.map(() => this.temporary());
    const stores = places.map(({ store }, index) => store(names[index] ?? 'undefined'));
    const before = places.map(({ prepare }) => prepare).join('');
    return `${before}${this.#adjusted(values, names)}\n${stores.join('\n')}`;
  }

  /** As many values as names, whatever the last expression gives. */
  #adjusted(values: readonly Expression[], names: readonly string[]): string {
    const lines: string[] = [];
    for (const [index, value] of values.entries()) {
      const isLast = index === values.length - 1;
      if (isLast && names.length > values.length && isMulti(value)) {
        const all = this.temporary();
        lines.push(`${all} = R.list(${this.results(value)});`);
        for (let at = index; at < names.length; at++)
          lines.push(`${names[at]} = ${all}[${at - index}];`);
        return lines.join('\n');
      }
      const code = this.single(value);
      lines.push(names[index] === undefined ? `${code};` : `${names[index]} = ${code};`);
    }
    for (const name of names.slice(values.length)) lines.push(`${name} = undefined;`);
    return lines.join('\n');
  }

  #loopValue(): string {
    return `k${++this.#lastLoopValue}`;
  }
}
