/** Applies to one value the rules that the API states for its field. */
import type { FieldRules } from '../../../shared/api/descriptor.ts';
import type { FieldType } from '../api/api-catalog.ts';
import { defaultScalar } from '../convert/scalars.ts';
import { wrappers } from '../convert/well-known-reader.ts';
import {
  type Violation,
  checkBool,
  checkBytes,
  checkDuration,
  checkEnum,
  checkNumber,
  checkString,
  checkTimestampRules,
} from './scalar-rules.ts';

/** Applies the rules of whichever family is there; a wrapper is checked as what it wraps. */
export function checkValue(
  field: FieldType,
  rules: FieldRules | undefined,
  value: unknown,
): Violation | undefined {
  if (field.descriptor.type === 'google.protobuf.Duration' && typeof value === 'string') {
    return checkDuration(rules?.duration ?? {}, value);
  }
  if (rules === undefined) {
    return undefined;
  }
  if (typeof value === 'boolean') {
    return rules.bool === undefined ? undefined : checkBool(rules.bool, value);
  }
  if (typeof value !== 'string' && typeof value !== 'number') {
    return undefined;
  }
  if (rules.enum !== undefined && field.kind === 'enum') {
    return checkEnum(rules.enum, field.enum, value);
  }
  if (rules.number !== undefined) {
    return checkNumber(rules.number, value);
  }
  return typeof value === 'string' ? checkText(field, rules, value) : undefined;
}

function checkText(field: FieldType, rules: FieldRules, value: string): Violation | undefined {
  if (rules.timestamp !== undefined) {
    return checkTimestampRules(rules.timestamp, value);
  }
  const wrapped = field.kind === 'message' ? wrappers.get(field.message.fullName) : field.kind;
  if (rules.bytes !== undefined && wrapped === 'bytes') {
    return checkBytes(rules.bytes, value);
  }
  return rules.string === undefined ? undefined : checkString(rules.string, value);
}

/** What a field without presence counts as when it is not written. */
export function defaultOf(field: FieldType): unknown {
  switch (field.kind) {
    case 'message':
      return undefined;
    case 'enum':
      return 0;
    default:
      return defaultScalar(field.kind);
  }
}
