/**
 * google.protobuf.Struct in the text form in which Envoy's `/runtime` shows values that are
 * structs, its marker of a deliberately unstable format included.
 */
import type { JsonObject, JsonValue } from '../../shared/api/well-known.ts';

export function printStructText(struct: JsonObject): string {
  return `goo.gle/debugproto\n${printFields(struct, 0)}`;
}

function printFields(struct: JsonObject, depth: number): string {
  return Object.keys(struct)
    .sort()
    .map((key) =>
      block('fields', depth, (inner) =>
        [
          line(`key: ${quote(key)}`, inner),
          block('value', inner, (deepest) => printValue(struct[key] ?? null, deepest)),
        ].join(''),
      ),
    )
    .join('');
}

function printValue(value: JsonValue, depth: number): string {
  if (value === null) return line('null_value: NULL_VALUE', depth);
  switch (typeof value) {
    case 'string':
      return line(`string_value: ${quote(value)}`, depth);
    case 'number':
      return line(`number_value: ${value}`, depth);
    case 'boolean':
      return line(`bool_value: ${value}`, depth);
    default:
      return Array.isArray(value)
        ? block('list_value', depth, (inner) =>
            (value as readonly JsonValue[])
              .map((element) => block('values', inner, (deepest) => printValue(element, deepest)))
              .join(''),
          )
        : block('struct_value', depth, (inner) => printFields(value as JsonObject, inner));
  }
}

function block(name: string, depth: number, content: (depth: number) => string): string {
  return `${line(`${name} {`, depth)}${content(depth + 1)}${line('}', depth)}`;
}

function line(text: string, depth: number): string {
  return `${'  '.repeat(depth)}${text}\n`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
