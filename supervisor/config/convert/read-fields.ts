/** What the fields of a message may be called, and which of them are left out. */
import type { FieldType, MessageType } from '../api/api-catalog.ts';
import { nearestName } from '../../../shared/text/nearest-name.ts';
import { defaultScalar } from './scalars.ts';

export function suggestField(type: MessageType, key: string): { suggestion?: string } {
  if (key === '<<') {
    return { suggestion: 'YAML merge keys are not followed; write the fields out or use an alias' };
  }
  const open = type.fields.map((field) => field.name);
  const near = nearestName(key, open);
  return near === undefined ? {} : { suggestion: `did you mean ${near}?` };
}

/** google.protobuf.Value reads null as a value of its own. */
export function keepsNull(field: FieldType): boolean {
  return (
    field.descriptor.type === 'google.protobuf.Value' ||
    field.descriptor.type === 'google.protobuf.NullValue'
  );
}

/** The name of what this field of a oneof repeats or excludes, if it was set before. */
export function alreadySet(field: FieldType, seen: FieldType[]): string | undefined {
  const { oneof } = field.descriptor;
  const other =
    oneof === undefined ? undefined : seen.find((one) => one.descriptor.oneof === oneof);
  seen.push(field);
  return other?.name;
}

/** Default values of fields without presence, and empty lists, are the same as nothing. */
export function isKept(field: FieldType, value: unknown): boolean {
  if (Array.isArray(value) && field.isList) {
    return value.length > 0;
  }
  if (field.isMap) {
    return Object.keys(value as object).length > 0;
  }
  if (field.hasPresence || field.kind === 'message') {
    return true;
  }
  return field.kind === 'enum'
    ? value !== (field.enum.nameOf(0) ?? 0)
    : value !== defaultScalar(field.kind);
}
