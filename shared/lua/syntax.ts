/** The tree that the parser makes of a script. */

/** A local variable; what becomes of it decides how it is kept. */
export interface Variable {
  readonly id: number;
  readonly name: string;
  readonly owner: FunctionBody;
  /** A function inside of its own uses it. */
  isCaptured: boolean;
  /** It gets a value somewhere else than where it is declared. */
  isAssigned: boolean;
}

export interface FunctionBody {
  readonly parameters: Variable[];
  readonly isVararg: boolean;
  readonly parent: FunctionBody | undefined;
  /** Variables of the functions around it that it uses. */
  readonly captures: Set<Variable>;
  readonly variables: Variable[];
  block: Block;
}

export interface Block {
  readonly statements: Statement[];
}

export type Expression =
  | { readonly kind: 'nil' | 'true' | 'false' | 'vararg'; readonly line: number }
  | { readonly kind: 'number'; readonly value: number; readonly line: number }
  | { readonly kind: 'string'; readonly value: string; readonly line: number }
  | { readonly kind: 'function'; readonly body: FunctionBody; readonly line: number }
  | {
      readonly kind: 'local';
      readonly variable: Variable;
      readonly isUpvalue: boolean;
      readonly line: number;
    }
  | { readonly kind: 'global'; readonly name: string; readonly line: number }
  | {
      readonly kind: 'index';
      readonly object: Expression;
      readonly key: Expression;
      readonly line: number;
    }
  | CallExpression
  | { readonly kind: 'paren'; readonly inner: Expression; readonly line: number }
  | {
      readonly kind: 'unary';
      readonly operator: string;
      readonly operand: Expression;
      readonly line: number;
    }
  | {
      readonly kind: 'binary';
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
      readonly line: number;
    }
  | { readonly kind: 'table'; readonly fields: readonly TableField[]; readonly line: number };

export interface CallExpression {
  readonly kind: 'call';
  readonly callee: Expression;
  /** The method of a call of the form `callee:method()`. */
  readonly method: string | undefined;
  readonly args: readonly Expression[];
  readonly line: number;
}

export interface TableField {
  /** Undefined: the next number. */
  readonly key: Expression | undefined;
  readonly value: Expression;
}

export type Statement =
  | {
      readonly kind: 'local';
      readonly variables: readonly Variable[];
      readonly values: readonly Expression[];
    }
  | { readonly kind: 'local_function'; readonly variable: Variable; readonly body: Expression }
  | {
      readonly kind: 'assign';
      readonly targets: readonly Expression[];
      readonly values: readonly Expression[];
    }
  | { readonly kind: 'call'; readonly call: CallExpression }
  | { readonly kind: 'do'; readonly block: Block }
  | { readonly kind: 'while'; readonly condition: Expression; readonly block: Block }
  | { readonly kind: 'repeat'; readonly block: Block; readonly condition: Expression }
  | {
      readonly kind: 'if';
      readonly branches: readonly { readonly condition: Expression; readonly block: Block }[];
      readonly otherwise: Block | undefined;
    }
  | {
      readonly kind: 'number_for';
      readonly variable: Variable;
      readonly range: readonly [Expression, Expression, Expression | undefined];
      readonly block: Block;
      readonly line: number;
    }
  | {
      readonly kind: 'generic_for';
      readonly variables: readonly Variable[];
      readonly values: readonly Expression[];
      readonly block: Block;
      readonly line: number;
    }
  | { readonly kind: 'return'; readonly values: readonly Expression[] }
  | { readonly kind: 'break' }
  | { readonly kind: 'goto'; readonly label: string; readonly line: number }
  | { readonly kind: 'label'; readonly label: string };
