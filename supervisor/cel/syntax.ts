/** The parsed form of an expression before it is checked: what a text and a protobuf Expr become. */
import type { CelConstant } from '../../shared/cel/expression.ts';

export type CelSyntax =
  | { readonly kind: 'constant'; readonly constant: CelConstant }
  | { readonly kind: 'name'; readonly name: string }
  | {
      readonly kind: 'select';
      readonly operand: CelSyntax;
      readonly field: string;
      readonly isTest: boolean;
    }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly receiver?: CelSyntax;
      readonly args: readonly CelSyntax[];
    }
  | { readonly kind: 'list'; readonly items: readonly CelSyntax[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [CelSyntax, CelSyntax])[] }
  | { readonly kind: 'message'; readonly name: string }
  /** A macro that goes through a list; Envoy has switched them off. */
  | { readonly kind: 'comprehension' };

/** Why an expression cannot be used, in Envoy's words where it has some. */
export class CelError extends Error {}

/** Longer expressions are refused, as are deeper ones. */
export const CEL_TEXT_MAX = 100_000;
export const CEL_DEPTH_MAX = 250;
