/**
 * Checks parsed expressions and writes them for workers: functions are there with that many
 * arguments, patterns compile, and what Envoy has switched off is refused with its words.
 */
import type { CelExpression } from '../../shared/cel/expression.ts';
import {
  CEL_FUNCTIONS,
  CEL_OPERATORS,
  CEL_STRING_FUNCTIONS,
  type CelFeatures,
} from '../../shared/cel/functions.ts';
import { compileRegex } from '../regex/compile-regex.ts';
import { toByteString } from '../../shared/regex/byte-string.ts';
import type { Expr } from '../../shared/api/generated/google/api/expr/v1alpha1/syntax.ts';
import { captureOf } from './captures.ts';
import { parseCelText } from './parse-text.ts';
import { readCelMessage } from './read-message.ts';
import { CelError, type CelSyntax } from './syntax.ts';

export type CelResult =
  | { readonly ok: true; readonly expression: CelExpression }
  /** `error` is worded as Envoy words it. */
  | { readonly ok: false; readonly error: string };

export const PLAIN_CEL: CelFeatures = {
  stringConversion: false,
  stringConcat: false,
  stringFunctions: false,
};

/** An expression in CEL's own syntax. Never throws. */
export function compileCelText(text: string, features: CelFeatures = PLAIN_CEL): CelResult {
  return resultOf(() => {
    let parsed: CelSyntax;
    try {
      parsed = parseCelText(text);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      throw new CelError(`Not able to parse filter expression: INVALID_ARGUMENT: ${error.message}`);
    }
    return new Checker(features).check(parsed);
  });
}

/** An expression as a message. Never throws. */
export function compileCelMessage(message: Expr, features: CelFeatures = PLAIN_CEL): CelResult {
  return resultOf(() => new Checker(features).check(readCelMessage(message)));
}

function resultOf(compile: () => CelExpression): CelResult {
  try {
    return { ok: true, expression: compile() };
  } catch (error) {
    if (error instanceof CelError) return { ok: false, error: error.message };
    throw error;
  }
}

/** Other spellings of operators in messages. */
const SAME: ReadonlyMap<string, string> = new Map([
  ['in', '@in'],
  ['_in_', '@in'],
]);
/** RE2's measure of a pattern that Envoy allows here. */
const REGEX_PROGRAM_MAX = 100;

class Checker {
  readonly #features: CelFeatures;

  constructor(features: CelFeatures) {
    this.#features = features;
  }

  check(syntax: CelSyntax): CelExpression {
    switch (syntax.kind) {
      case 'constant':
        return syntax;
      case 'name':
        return syntax;
      case 'select':
        return {
          ...syntax,
          operand: this.check(syntax.operand),
          field: toByteString(syntax.field),
        };
      case 'list':
        return { kind: 'list', items: syntax.items.map((item) => this.check(item)) };
      case 'map': {
        const entries = syntax.entries.map(
          ([key, value]) => [this.check(key), this.check(value)] as const,
        );
        return { kind: 'map', entries };
      }
      case 'call':
        return this.#call(syntax);
      case 'message':
        throw new CelError(
          `failed to create an expression: messages (${syntax.name}) are not supported`,
        );
      case 'comprehension':
        throw new CelError('failed to create an expression: Comprehension support is disabled');
    }
  }

  #call(syntax: Extract<CelSyntax, { kind: 'call' }>): CelExpression {
    const { name: written, receiver, args: own } = syntax;
    const capture = captureOf(syntax, {
      check: (each) => this.check(each),
      maxProgramSize: REGEX_PROGRAM_MAX,
    });
    if (capture !== undefined) return capture;
    const name = SAME.get(written) ?? written;
    const all = receiver === undefined ? own : [receiver, ...own];
    if (name === 'matches' && all.length === 2) return this.#matches(all);
    const isJoin = name === '_&&_' || name === '_||_';
    if (isJoin ? all.length < 2 : !this.#takes(name, all.length)) throw unknownFunction(name);
    const isConcat = name === '_+_' && this.#features.stringConcat;
    const args = all.map((arg) => this.check(arg));
    return { kind: 'call', name: isConcat ? 'concat' : name, args };
  }

  #takes(name: string, count: number): boolean {
    if (CEL_OPERATORS.get(name) === count) return true;
    if (CEL_FUNCTIONS.get(name)?.includes(count) === true) return true;
    if (name === 'string') return this.#features.stringConversion && count === 1;
    return (
      this.#features.stringFunctions && CEL_STRING_FUNCTIONS.get(name)?.includes(count) === true
    );
  }

  /** Patterns are compiled here, where there is a compiler: they have to be constants. */
  #matches([text, pattern]: readonly CelSyntax[]): CelExpression {
    if (text === undefined || pattern?.kind !== 'constant' || pattern.constant.type !== 'string') {
      throw new CelError(
        'failed to create an expression: the pattern of matches() has to be a string constant',
      );
    }
    const source = Buffer.from(pattern.constant.value, 'latin1').toString('utf8');
    const result = compileRegex(source, { use: 'match', maxProgramSize: REGEX_PROGRAM_MAX });
    if (!result.ok) {
      throw new CelError(
        `failed to create an expression: invalid regular expression: ${result.error}`,
      );
    }
    return { kind: 'matches', text: this.check(text), regex: result.regex };
  }
}

function unknownFunction(name: string): CelError {
  return new CelError(
    `failed to create an expression: No overload found in reference resolve step for ${name}`,
  );
}
