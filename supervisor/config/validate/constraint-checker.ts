/**
 * Checks a normalised message against the `validate.rules` of the API, in nested messages, lists,
 * maps and inside every google.protobuf.Any. Reports all broken rules, those of the message before
 * those inside its Any fields, which is the order in which the reference meets them.
 */
import type { FieldRules } from '../../../shared/api/descriptor.ts';
import type { ApiCatalog, FieldType, MessageType } from '../api/api-catalog.ts';
import { type MessageObject, isMessageObject } from '../convert/message-object.ts';
import { defaultScalar } from '../convert/scalars.ts';
import { wrappers } from '../convert/well-known-reader.ts';
import { type Place, type ProblemSink, at } from '../problem.ts';
import { pascalCase } from './rule-text.ts';
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

export interface ConstraintOptions {
  readonly catalog: ApiCatalog;
  readonly sink: ProblemSink;
  /** Objects in which something could not be read: nothing is said of what they lack. */
  readonly incomplete: WeakSet<object>;
  /** Places where the contents of Any fields are never used, and not checked. */
  readonly unused?: (place: Place | undefined) => boolean;
}

/** Kept for filters to look at by type; the reference does not check it either. */
const uncheckedField = 'typed_filter_metadata';

/** How the checks came to a message; the reference prints the whole way. */
interface Trail {
  readonly parent: Trail | undefined;
  /** Such as `ClusterValidationError.HealthChecks[0]`. */
  readonly step: string;
}

interface PendingAny {
  readonly value: MessageObject;
  readonly place: Place | undefined;
}

export function checkConstraints(
  options: ConstraintOptions,
  type: MessageType,
  message: MessageObject,
  place?: Place,
): void {
  new ConstraintChecker(options).check(type, message, place);
}

class ConstraintChecker {
  readonly #options: ConstraintOptions;
  readonly #pending: PendingAny[] = [];

  constructor(options: ConstraintOptions) {
    this.#options = options;
  }

  check(type: MessageType, message: MessageObject, place: Place | undefined): void {
    this.#value(type, message, undefined, place);
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
      this.#any(next);
    }
  }

  #any({ value, place }: PendingAny): void {
    const url = value['@type'];
    const name = typeof url === 'string' ? url.slice(url.lastIndexOf('/') + 1) : '';
    const type = this.#options.catalog.findMessage(name);
    if (type === undefined || this.#options.unused?.(place) === true) {
      return;
    }
    if (Object.hasOwn(value, 'value') && type.fullName.startsWith('google.protobuf.')) {
      this.#value(type, value['value'], undefined, at(place, 'value'));
    } else {
      this.#message(type, value, undefined, place);
    }
  }

  /** A message in whatever form it is normalised. */
  #value(
    type: MessageType,
    value: unknown,
    trail: Trail | undefined,
    place: Place | undefined,
  ): void {
    if (!isMessageObject(value)) {
      return;
    }
    if (type.fullName === 'google.protobuf.Any') {
      this.#pending.push({ value, place });
    } else if (!type.fullName.startsWith('google.protobuf.')) {
      this.#message(type, value, trail, place);
    }
  }

  #message(
    type: MessageType,
    message: MessageObject,
    trail: Trail | undefined,
    place: Place | undefined,
  ): void {
    if (type.unvalidated) {
      return;
    }
    const later: FieldType[] = [];
    for (const field of type.fields) {
      if (field.descriptor.oneof === undefined) {
        this.#field(type, field, message, { trail, place });
      } else if (Object.hasOwn(message, field.name)) {
        later.push(field);
      }
    }
    for (const field of later) {
      this.#field(type, field, message, { trail, place });
    }
    this.#oneofs(type, message, trail, place);
  }

  #oneofs(
    type: MessageType,
    message: MessageObject,
    trail: Trail | undefined,
    place: Place | undefined,
  ): void {
    for (const [index, oneof] of type.oneofs.entries()) {
      if (oneof.required !== true || this.#options.incomplete.has(message)) {
        continue;
      }
      const members = type.fields.filter((field) => field.descriptor.oneof === index);
      if (!members.some((field) => Object.hasOwn(message, field.name))) {
        const names = members.map((field) => field.name).join(', ');
        this.#options.sink.report({
          severity: 'error',
          place,
          message: `one of ${names} is required`,
          rule: 'validate.oneof.required',
          reference: constraintText(trail, `field: "${oneof.name}", reason: is required`),
        });
      }
    }
  }

  #field(
    type: MessageType,
    field: FieldType,
    message: MessageObject,
    parent: { trail: Trail | undefined; place: Place | undefined },
  ): void {
    const present = Object.hasOwn(message, field.name);
    const rules = field.descriptor.rules;
    if (!present && (rules === undefined || this.#options.incomplete.has(message))) {
      return;
    }
    const trail: Trail = {
      parent: parent.trail,
      step: `${type.shortName}ValidationError.${pascalCase(field.name)}`,
    };
    const place = at(parent.place, field.name);
    const value = present ? message[field.name] : undefined;
    if (field.name === uncheckedField) {
      return;
    }
    if (field.isMap) {
      this.#map(field, isMessageObject(value) ? value : {}, trail, place);
    } else if (field.isList) {
      this.#list(field, Array.isArray(value) ? value : [], trail, place);
    } else {
      this.#single(field, value, trail, place);
    }
  }

  #single(field: FieldType, given: unknown, trail: Trail, place: Place): void {
    const rules = field.descriptor.rules;
    const absent = given === undefined;
    if (absent && isRequired(rules)) {
      this.#report({ rule: 'message.required', message: requiredText(field) }, trail, place);
      return;
    }
    // Fields without presence are checked with their default value, as if it were written.
    const checked =
      absent && field.kind !== 'message' && !field.hasPresence ? defaultOf(field) : given;
    if (checked !== undefined) {
      this.#report(checkValue(field, rules, checked), trail, place);
    }
    if (field.kind === 'message' && rules?.message?.skip !== true) {
      this.#value(field.message, given, trail, place);
    }
  }

  #list(field: FieldType, values: readonly unknown[], trail: Trail, place: Place): void {
    const rules = field.descriptor.rules?.repeated;
    if (rules !== undefined && !(rules.ignore_empty === true && values.length === 0)) {
      this.#report(checkCount(rules.min_items, rules.max_items, values.length), trail, place);
    }
    const seen = new Set<unknown>();
    for (const [index, value] of values.entries()) {
      if (value === undefined) {
        continue;
      }
      const itemTrail: Trail = { parent: trail.parent, step: `${trail.step}[${index}]` };
      const itemPlace = at(place, index);
      const identity = typeof value === 'object' ? JSON.stringify(value) : value;
      if (rules?.unique === true && seen.has(identity)) {
        const message = 'repeated value must contain unique items';
        this.#report({ rule: 'repeated.unique', message }, itemTrail, itemPlace);
      }
      seen.add(identity);
      this.#item(field, rules?.items, value, { trail: itemTrail, place: itemPlace });
    }
  }

  #map(field: FieldType, map: MessageObject, trail: Trail, place: Place): void {
    const rules = field.descriptor.rules?.map;
    const entries = Object.entries(map);
    if (rules !== undefined && !(rules.ignore_empty === true && entries.length === 0)) {
      this.#report(checkPairs(rules.min_pairs, rules.max_pairs, entries.length), trail, place);
    }
    for (const [key, value] of entries) {
      const itemTrail: Trail = { parent: trail.parent, step: `${trail.step}[${key}]` };
      const itemPlace = at(place, key);
      if (rules?.keys?.string !== undefined) {
        this.#report(checkString(rules.keys.string, key), itemTrail, itemPlace);
      }
      this.#item(field, rules?.values, value, { trail: itemTrail, place: itemPlace });
    }
  }

  #item(
    field: FieldType,
    rules: FieldRules | undefined,
    value: unknown,
    { trail, place }: { trail: Trail; place: Place },
  ): void {
    this.#report(checkValue(field, rules, value), trail, place);
    if (field.kind === 'message' && rules?.message?.skip !== true) {
      this.#value(field.message, value, trail, place);
    }
  }

  #report(violation: Violation | undefined, trail: Trail, place: Place): void {
    if (violation !== undefined) {
      this.#options.sink.report({
        severity: 'error',
        place,
        message: violation.message,
        ...(violation.rule.startsWith('duration_')
          ? { rule: violation.rule, reference: violation.message }
          : {
              rule: `validate.${violation.rule}`,
              reference: constraintText(trail.parent, `${trail.step}: ${violation.message}`),
            }),
      });
    }
  }
}

function constraintText(trail: Trail | undefined, last: string): string {
  let text = last;
  for (let step = trail; step !== undefined; step = step.parent) {
    text = `${step.step}: embedded message failed validation | caused by ${text}`;
  }
  return `Proto constraint validation failed (${text})`;
}

function isRequired(rules: FieldRules | undefined): boolean {
  return (
    rules?.message?.required === true ||
    rules?.any?.required === true ||
    rules?.duration?.required === true ||
    rules?.timestamp?.required === true
  );
}

function requiredText(field: FieldType): string {
  return wrappers.has(field.descriptor.type ?? '')
    ? 'value is required and must not be nil.'
    : 'value is required';
}

function defaultOf(field: FieldType): unknown {
  switch (field.kind) {
    case 'message':
      return undefined;
    case 'enum':
      return 0;
    default:
      return defaultScalar(field.kind);
  }
}

/** Applies the rules of whichever family is there; a wrapper is checked as what it wraps. */
function checkValue(
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

function checkCount(
  low: number | undefined,
  high: number | undefined,
  count: number,
): Violation | undefined {
  const few = low !== undefined && count < low;
  const many = high !== undefined && count > high;
  if (!few && !many) {
    return undefined;
  }
  const rule = few ? 'repeated.min_items' : 'repeated.max_items';
  if (low !== undefined && high !== undefined) {
    const message =
      low === high
        ? `value must contain exactly ${low} item(s)`
        : `value must contain between ${low} and ${high} items, inclusive`;
    return { rule, message };
  }
  return {
    rule,
    message: few
      ? `value must contain at least ${low ?? 0} item(s)`
      : `value must contain no more than ${high ?? 0} item(s)`,
  };
}

function checkPairs(
  low: number | undefined,
  high: number | undefined,
  count: number,
): Violation | undefined {
  if (low !== undefined && count < low) {
    return { rule: 'map.min_pairs', message: `value must contain at least ${low} pair(s)` };
  }
  return high !== undefined && count > high
    ? { rule: 'map.max_pairs', message: `value must contain no more than ${high} pair(s)` }
    : undefined;
}
