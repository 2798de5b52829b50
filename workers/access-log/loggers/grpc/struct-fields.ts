/** google.protobuf.Struct as fields. */
import type { Struct } from '../../../../shared/text/dictionary.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import { field, message, type TraceField } from '../../../tap/trace-message.ts';

export function structFields(values: Struct): readonly TraceField[] {
  const items = Object.entries(values).map(([key, value]) => [
    field(1, 'key', { kind: 'string', text: toByteString(key) }),
    message(2, 'value', [valueField(value)]),
  ]);
  return [field(1, 'fields', { kind: 'messages', items })];
}

function valueField(value: unknown): TraceField {
  switch (typeof value) {
    case 'number':
      return field(2, 'number_value', { kind: 'double', value });
    case 'string':
      return field(3, 'string_value', { kind: 'string', text: toByteString(value) });
    case 'boolean':
      return field(4, 'bool_value', { kind: 'bool', value });
    default:
      return nestedField(value);
  }
}

function nestedField(value: unknown): TraceField {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => [valueField(item)]);
    return message(6, 'list_value', [field(1, 'values', { kind: 'messages', items })]);
  }
  if (typeof value === 'object' && value !== null) {
    return message(5, 'struct_value', structFields(value as Struct));
  }
  return field(1, 'null_value', { kind: 'uint32', value: 0 });
}
