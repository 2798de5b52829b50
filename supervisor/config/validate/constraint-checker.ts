/**
 * Checks a normalised message against the `validate.rules` of the API, in nested messages, lists,
 * maps and inside every google.protobuf.Any. Reports all broken rules, those of the message before
 * those inside its Any fields, which is the order in which the reference meets them.
 */
import type { FieldRules } from '../../../shared/api/descriptor.ts';
import type { ApiCatalog, FieldType, MessageType } from '../api/api-catalog.ts';
import { type MessageObject, isMessageObject } from '../convert/message-object.ts';
import { wrappers } from '../convert/well-known-reader.ts';
import { type Place, type ProblemSink, at } from '../problem.ts';
import { checkValue, defaultOf } from './check-value.ts';
import { isRequired, planOf, type MessagePlan } from './message-plan.ts';
import { pascalCase } from './rule-text.ts';
import { type Violation, checkString } from './scalar-rules.ts';

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
  readonly type: MessageType;
  readonly field: FieldType;
  /** In the field's list or map. */
  readonly item?: number | string;
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
    const plan = planOf(type);
    for (const field of plan.fields) {
      const isPresent = Object.hasOwn(message, field.name);
      if (isPresent || (plan.needed.has(field) && !this.#options.incomplete.has(message))) {
        this.#field(type, field, message, { trail, place });
      }
    }
    if (plan.requiredOneofs.length > 0) this.#oneofs(plan, message, trail, place);
  }

  #oneofs(
    plan: MessagePlan,
    message: MessageObject,
    trail: Trail | undefined,
    place: Place | undefined,
  ): void {
    if (this.#options.incomplete.has(message)) {
      return;
    }
    for (const { name, members } of plan.requiredOneofs) {
      if (!members.some((field) => Object.hasOwn(message, field.name))) {
        const names = members.map((field) => field.name).join(', ');
        this.#options.sink.report({
          severity: 'error',
          place,
          message: `one of ${names} is required`,
          rule: 'validate.oneof.required',
          reference: constraintText(trail, `field: "${name}", reason: is required`),
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
    const trail: Trail = { parent: parent.trail, type, field };
    const place = at(parent.place, field.name);
    const value = Object.hasOwn(message, field.name) ? message[field.name] : undefined;
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
      const itemTrail: Trail = { ...trail, item: index };
      const itemPlace = at(place, index);
      if (rules?.unique === true) {
        const identity = typeof value === 'object' ? JSON.stringify(value) : value;
        const message = 'repeated value must contain unique items';
        const violation = seen.has(identity) ? { rule: 'repeated.unique', message } : undefined;
        this.#report(violation, itemTrail, itemPlace);
        seen.add(identity);
      }
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
      const itemTrail: Trail = { ...trail, item: key };
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
              reference: constraintText(trail.parent, `${stepText(trail)}: ${violation.message}`),
            }),
      });
    }
  }
}

/** Such as `ClusterValidationError.HealthChecks[0]`. */
function stepText({ type, field, item }: Trail): string {
  const index = item === undefined ? '' : `[${item}]`;
  return `${type.shortName}ValidationError.${pascalCase(field.name)}${index}`;
}

function constraintText(trail: Trail | undefined, last: string): string {
  let text = last;
  for (let step = trail; step !== undefined; step = step.parent) {
    text = `${stepText(step)}: embedded message failed validation | caused by ${text}`;
  }
  return `Proto constraint validation failed (${text})`;
}

function requiredText(field: FieldType): string {
  return wrappers.has(field.descriptor.type ?? '')
    ? 'value is required and must not be nil.'
    : 'value is required';
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
