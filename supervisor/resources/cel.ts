/** Resolves expressions of CEL wherever the API has them, and packs those of substitution formats. */
import type { CelExpressionConfig } from '../../shared/api/generated/envoy/config/core/v3/cel.ts';
import type { Expr } from '../../shared/api/generated/google/api/expr/v1alpha1/syntax.ts';
import type { CelExpression as ExpressionMessage } from '../../shared/api/generated/xds/type/v3/cel.ts';
import { packCel, type CelExpression } from '../../shared/cel/expression.ts';
import type { CelFeatures } from '../../shared/cel/functions.ts';
import {
  compileCelMessage,
  compileCelText,
  PLAIN_CEL,
  type CelResult,
} from '../cel/compile-cel.ts';
import type { Scope } from './scope.ts';

export function celFeatures(config: CelExpressionConfig | undefined): CelFeatures {
  if (config === undefined) return PLAIN_CEL;
  return {
    stringConversion: config.enable_string_conversion ?? false,
    stringConcat: config.enable_string_concat ?? false,
    stringFunctions: config.enable_string_functions ?? false,
  };
}

/** Undefined after a reported problem. */
export function resolveCelText(
  text: string,
  scope: Scope,
  features?: CelFeatures,
): CelExpression | undefined {
  return reported(compileCelText(text, features), scope);
}

/** Undefined after a reported problem. */
export function resolveCelExpr(
  message: Expr,
  scope: Scope,
  features?: CelFeatures,
): CelExpression | undefined {
  return reported(compileCelMessage(message, features), scope);
}

/** Whichever form the expression has; undefined after a reported problem. */
export function resolveCelExpression(
  message: ExpressionMessage,
  scope: Scope,
): CelExpression | undefined {
  const { cel_expr_parsed: parsed, cel_expr_checked: checked, cel_expr_string: text } = message;
  if (text !== undefined) return resolveCelText(text, scope.at('cel_expr_string'));
  const expr =
    checked?.expr ?? parsed?.expr ?? message.checked_expr?.expr ?? message.parsed_expr?.expr;
  // Both generations of the message have the same fields.
  if (expr !== undefined) return resolveCelExpr(expr as Expr, scope);
  scope.error('conflict', 'CEL expression is not set');
  return undefined;
}

function reported(result: CelResult, scope: Scope): CelExpression | undefined {
  if (result.ok) return result.expression;
  scope.error('conflict', result.error);
  return undefined;
}

const COMMAND = /%%|%((?:TYPED_)?CEL)\((.*?)\)(:\d+)?%/gs;

/** The same format with a packed word in the place of each expression. */
export function packExpressions(text: string, scope: Scope, features: CelFeatures): string {
  if (!text.includes('CEL(')) return text;
  return text.replace(
    COMMAND,
    (whole, name: string | undefined, source: string, length: string | undefined = '') => {
      if (name === undefined) return whole;
      const expression = resolveCelText(source, scope, features);
      return expression === undefined ? '' : `%${name}(${packCel(expression)})${length}%`;
    },
  );
}
