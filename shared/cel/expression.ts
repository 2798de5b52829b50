/**
 * Expressions of CEL as workers receive them: parsed, checked, patterns compiled. Texts are byte
 * strings. Inside a substitution format an expression stands as a packed word.
 */
import type { CompiledRegex } from '../resources/routes/matchers.ts';

export type CelConstant =
  | { readonly type: 'null' }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'double'; readonly value: number }
  /** 64 bits do not fit into a number; `bytes` and `string` hold one character per byte. */
  | { readonly type: 'int' | 'uint' | 'string' | 'bytes'; readonly value: string }
  /** Nanoseconds, of a timestamp since 1970. */
  | { readonly type: 'duration' | 'timestamp'; readonly value: string };

export type CelExpression =
  | { readonly kind: 'constant'; readonly constant: CelConstant }
  | { readonly kind: 'name'; readonly name: string }
  | {
      readonly kind: 'select';
      readonly operand: CelExpression;
      readonly field: string;
      /** `has(operand.field)` */
      readonly isTest: boolean;
    }
  /** A receiver comes first among the arguments. `_&&_` and `_||_` take any number of them. */
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly CelExpression[] }
  | { readonly kind: 'matches'; readonly text: CelExpression; readonly regex: CompiledRegex }
  | CelCapture
  | { readonly kind: 'list'; readonly items: readonly CelExpression[] }
  | {
      readonly kind: 'map';
      readonly entries: readonly (readonly [CelExpression, CelExpression])[];
    };

/** What the first part of a text that matches gives. */
export interface CelCapture {
  readonly kind: 'capture';
  /** The first group; all of them by name or number; or a text that refers to them. */
  readonly form: 'capture' | 'captureN' | 'extract';
  readonly text: CelExpression;
  /** Absent for a pattern that is none: nothing is found, as in Envoy. */
  readonly regex?: CompiledRegex;
  /** The groups' names; the number of one that has none. */
  readonly groups: readonly string[];
  /** Of `extract`. */
  readonly rewrite?: CelExpression;
}

const PACKED = /^[\w-]+$/;

export function packCel(expression: CelExpression): string {
  return Buffer.from(JSON.stringify(expression), 'utf8').toString('base64url');
}

/** Undefined for a word that `packCel` did not make. */
export function unpackCel(word: string): CelExpression | undefined {
  if (!PACKED.test(word)) return undefined;
  try {
    return JSON.parse(Buffer.from(word, 'base64url').toString('utf8')) as CelExpression;
  } catch {
    return undefined;
  }
}
