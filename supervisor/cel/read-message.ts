/** Reads expressions that a configuration has as protobuf messages: cel.expr and google.api.expr. */
import type {
  Constant,
  Expr,
  Expr_Call,
  Expr_CreateStruct,
} from '../../shared/api/generated/google/api/expr/v1alpha1/syntax.ts';
import type { CelConstant } from '../../shared/cel/expression.ts';
import { parseDuration, parseTimestamp } from '../../shared/cel/time-text.ts';
import { toByteString } from '../../shared/regex/byte-string.ts';
import { CEL_DEPTH_MAX, CelError, type CelSyntax } from './syntax.ts';

/** Throws CelError. */
export function readCelMessage(message: Expr, depth = 0): CelSyntax {
  if (depth > CEL_DEPTH_MAX) throw new CelError('expression is too deep');
  const inner = (expression: Expr | undefined): CelSyntax =>
    readCelMessage(expression ?? {}, depth + 1);
  if (message.const_expr !== undefined) {
    return { kind: 'constant', constant: constantOf(message.const_expr) };
  }
  if (message.ident_expr !== undefined) {
    return { kind: 'name', name: message.ident_expr.name ?? '' };
  }
  if (message.select_expr !== undefined) {
    const { operand, field = '', test_only: isTest = false } = message.select_expr;
    return { kind: 'select', operand: inner(operand), field, isTest };
  }
  if (message.call_expr !== undefined) return callOf(message.call_expr, inner);
  if (message.list_expr !== undefined) {
    return { kind: 'list', items: (message.list_expr.elements ?? []).map(inner) };
  }
  if (message.struct_expr !== undefined) return structOf(message.struct_expr, inner);
  if (message.comprehension_expr !== undefined) return { kind: 'comprehension' };
  throw new CelError('Invalid empty expression');
}

type Inner = (expression: Expr | undefined) => CelSyntax;

function callOf({ function: name = '', target, args = [] }: Expr_Call, inner: Inner): CelSyntax {
  return {
    kind: 'call',
    name,
    args: args.map(inner),
    ...(target === undefined ? {} : { receiver: inner(target) }),
  };
}

function structOf(
  { message_name: name = '', entries = [] }: Expr_CreateStruct,
  inner: Inner,
): CelSyntax {
  if (name !== '') return { kind: 'message', name };
  return {
    kind: 'map',
    entries: entries.map(({ map_key: key, value }) => [inner(key), inner(value)] as const),
  };
}

function constantOf(message: Constant): CelConstant {
  if (message.bool_value !== undefined) return { type: 'bool', value: message.bool_value };
  if (message.int64_value !== undefined) return { type: 'int', value: String(message.int64_value) };
  if (message.uint64_value !== undefined) {
    return { type: 'uint', value: String(message.uint64_value) };
  }
  if (message.double_value !== undefined) {
    return { type: 'double', value: Number(message.double_value) };
  }
  if (message.string_value !== undefined) {
    return { type: 'string', value: toByteString(message.string_value) };
  }
  if (message.bytes_value !== undefined) {
    return { type: 'bytes', value: Buffer.from(message.bytes_value, 'base64').toString('latin1') };
  }
  if (message.duration_value !== undefined) {
    return { type: 'duration', value: String(parseDuration(message.duration_value) ?? 0n) };
  }
  if (message.timestamp_value !== undefined) {
    return { type: 'timestamp', value: String(parseTimestamp(message.timestamp_value) ?? 0n) };
  }
  return { type: 'null' };
}
