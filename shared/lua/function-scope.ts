/** Which variable a name means while a script is parsed, and which labels a goto may reach. */
import type { Lexer } from './lexer.ts';
import type { FunctionBody, Variable } from './syntax.ts';

/** As in LuaJIT. */
const LOCALS_MAX = 200;

interface BlockScope {
  readonly names: Map<string, Variable>;
  readonly labels: Set<string>;
  readonly isLoop: boolean;
  readonly gotos: { readonly label: string; readonly line: number }[];
}

export class FunctionScope {
  readonly body: FunctionBody;
  readonly parent: FunctionScope | undefined;
  readonly #blocks: BlockScope[] = [];
  #active = 0;

  constructor(body: FunctionBody, parent: FunctionScope | undefined) {
    this.body = body;
    this.parent = parent;
  }

  open(isLoop = false): void {
    this.#blocks.push({ names: new Map(), labels: new Set(), isLoop, gotos: [] });
  }

  /** What its gotos did not find here has to be further out. */
  close(lexer: Lexer): void {
    const closed = this.#blocks.pop();
    if (closed === undefined) return;
    this.#active -= closed.names.size;
    const outer = this.#blocks.at(-1);
    for (const each of closed.gotos) {
      if (closed.labels.has(each.label)) continue;
      if (outer === undefined) lexer.fail(`undefined label '${each.label}'`, undefined, each.line);
      outer.gotos.push(each);
    }
  }

  declare(name: string, lexer: Lexer, lastId: { value: number }): Variable {
    const scope = this.#blocks.at(-1);
    const variable: Variable = {
      id: ++lastId.value,
      name,
      owner: this.body,
      isCaptured: false,
      isAssigned: false,
    };
    if (scope?.names.has(name) !== true) this.#active += 1;
    scope?.names.set(name, variable);
    if (this.#active > LOCALS_MAX) lexer.fail('too many local variables', undefined);
    this.body.variables.push(variable);
    return variable;
  }

  /** Undefined: a global. */
  find(name: string): Variable | undefined {
    for (let at = this.#blocks.length - 1; at >= 0; at--) {
      const variable = this.#blocks[at]?.names.get(name);
      if (variable !== undefined) return variable;
    }
    const outer = this.parent?.find(name);
    if (outer !== undefined) {
      outer.isCaptured = true;
      this.body.captures.add(outer);
    }
    return outer;
  }

  label(name: string, lexer: Lexer): void {
    if (this.#blocks.some(({ labels }) => labels.has(name))) {
      lexer.fail(`duplicate label '${name}'`, undefined);
    }
    this.#blocks.at(-1)?.labels.add(name);
  }

  goto(label: string, line: number): void {
    this.#blocks.at(-1)?.gotos.push({ label, line });
  }

  get isInLoop(): boolean {
    return this.#blocks.some(({ isLoop }) => isLoop);
  }
}
