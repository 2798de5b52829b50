/**
 * Checks a normalised message against the `validate.rules` of the API, in nested messages, lists,
 * maps and inside every google.protobuf.Any. Reports all broken rules, those of the message before
 * those inside its Any fields, which is the order in which Envoy meets them.
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

/** Kept for filters to look at by type; Envoy does not check it either. */
const uncheckedField = 'typed_filter_metadata';

/** How the checks came to a message; Envoy prints the whole way. */
interface Trail {
  readonly parent: Trail | undefined;
  readonly type: MessageType;
  readonly field: FieldType;
  /** In the field's list or map. */
  readonly item: number | string | undefined;
}

/** The message that a field is of. */
type Inside = Pick<Trail, 'parent' | 'type'>;

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
  /** The message that trails begin in. */
  #root: Place | undefined;

  constructor(options: ConstraintOptions) {
    this.#options = options;
  }

  check(type: MessageType, message: MessageObject, place: Place | undefined): void {
    this.#root = place;
    this.#value(type, message, undefined);
    // A walk over a list sees what is added meanwhile; taking from its front would move all of it.
    for (const next of this.#pending) this.#any(next);
    this.#pending.length = 0;
  }

  #any({ value, place }: PendingAny): void {
    const url = value['@type'];
    const name = typeof url === 'string' ? url.slice(url.lastIndexOf('/') + 1) : '';
    const type = this.#options.catalog.findMessage(name);
    if (type === undefined || this.#options.unused?.(place) === true) {
      return;
    }
    if (type.isWellKnown && Object.hasOwn(value, 'value')) {
      this.#root = at(place, 'value');
      this.#value(type, value['value'], undefined);
    } else {
      this.#root = place;
      this.#message(type, value, undefined);
    }
  }

  /** A message in whatever form it is normalised. */
  #value(type: MessageType, value: unknown, trail: Trail | undefined): void {
    if (!isMessageObject(value)) {
      return;
    }
    if (type.fullName === 'google.protobuf.Any') {
      this.#pending.push({ value, place: this.#placeOf(trail) });
    } else if (!type.isWellKnown) {
      this.#message(type, value, trail);
    }
  }

  #message(type: MessageType, message: MessageObject, trail: Trail | undefined): void {
    if (type.unvalidated) {
      return;
    }
    const plan = planOf(type);
    for (const field of plan.fields) {
      const given = message[field.name];
      const isPresent = given !== undefined && Object.hasOwn(message, field.name);
      if (isPresent || (plan.needed.has(field) && !this.#options.incomplete.has(message))) {
        this.#field(field, isPresent ? given : undefined, { parent: trail, type });
      }
    }
    if (plan.requiredOneofs.length > 0) this.#oneofs(plan, message, trail);
  }

  #oneofs(plan: MessagePlan, message: MessageObject, trail: Trail | undefined): void {
    if (this.#options.incomplete.has(message)) {
      return;
    }
    for (const { name, members } of plan.requiredOneofs) {
      if (!members.some((field) => Object.hasOwn(message, field.name))) {
        const names = members.map((field) => field.name).join(', ');
        this.#options.sink.report({
          severity: 'error',
          place: this.#placeOf(trail),
          message: `one of ${names} is required`,
          rule: 'validate.oneof.required',
          reference: constraintText(trail, `field: "${name}", reason: is required`),
        });
      }
    }
  }

  #field(field: FieldType, value: unknown, inside: Inside): void {
    if (field.name === uncheckedField) {
      return;
    }
    if (field.isMap) {
      this.#map(field, isMessageObject(value) ? value : {}, inside);
    } else if (field.isList) {
      this.#list(field, Array.isArray(value) ? value : [], inside);
    } else {
      this.#single(field, value, inside);
    }
  }

  #single(field: FieldType, given: unknown, inside: Inside): void {
    const rules = field.descriptor.rules;
    const absent = given === undefined;
    if (absent && isRequired(rules)) {
      const violation = { rule: 'message.required', message: requiredText(field) };
      this.#report(violation, { ...inside, field, item: undefined });
      return;
    }
    // Fields without presence are checked with their default value, as if it were written.
    const checked =
      absent && field.kind !== 'message' && !field.hasPresence ? defaultOf(field) : given;
    const violation = checked === undefined ? undefined : checkValue(field, rules, checked);
    if (violation !== undefined) this.#report(violation, { ...inside, field, item: undefined });
    if (field.kind === 'message' && rules?.message?.skip !== true && isMessageObject(given)) {
      const { parent, type } = inside;
      this.#value(field.message, given, { parent, type, field, item: undefined });
    }
  }

  #list(field: FieldType, values: readonly unknown[], inside: Inside): void {
    const rules = field.descriptor.rules?.repeated;
    if (rules !== undefined && !(rules.ignore_empty === true && values.length === 0)) {
      const violation = checkCount(rules.min_items, rules.max_items, values.length);
      if (violation !== undefined) this.#report(violation, { ...inside, field, item: undefined });
    }
    const { parent, type } = inside;
    const seen = rules?.unique === true ? new Set<unknown>() : undefined;
    for (let item = 0; item < values.length; item++) {
      const value = values[item];
      if (value === undefined) {
        continue;
      }
      const trail: Trail = { parent, type, field, item };
      if (seen !== undefined) {
        const identity = typeof value === 'object' ? JSON.stringify(value) : value;
        const message = 'repeated value must contain unique items';
        if (seen.has(identity)) this.#report({ rule: 'repeated.unique', message }, trail);
        seen.add(identity);
      }
      this.#item(rules?.items, value, trail);
    }
  }

  #map(field: FieldType, map: MessageObject, inside: Inside): void {
    const rules = field.descriptor.rules?.map;
    const entries = Object.entries(map);
    if (rules !== undefined && !(rules.ignore_empty === true && entries.length === 0)) {
      const violation = checkPairs(rules.min_pairs, rules.max_pairs, entries.length);
      if (violation !== undefined) this.#report(violation, { ...inside, field, item: undefined });
    }
    for (const [key, value] of entries) {
      const trail: Trail = { ...inside, field, item: key };
      if (rules?.keys?.string !== undefined) {
        const violation = checkString(rules.keys.string, key);
        if (violation !== undefined) this.#report(violation, trail);
      }
      this.#item(rules?.values, value, trail);
    }
  }

  #item(rules: FieldRules | undefined, value: unknown, trail: Trail): void {
    const { field } = trail;
    const violation = checkValue(field, rules, value);
    if (violation !== undefined) this.#report(violation, trail);
    if (field.kind === 'message' && rules?.message?.skip !== true) {
      this.#value(field.message, value, trail);
    }
  }

  #report(violation: Violation, trail: Trail): void {
    this.#options.sink.report({
      severity: 'error',
      place: this.#placeOf(trail),
      message: violation.message,
      ...(violation.rule.startsWith('duration_')
        ? { rule: violation.rule, reference: violation.message }
        : {
            rule: `validate.${violation.rule}`,
            reference: constraintText(trail.parent, `${stepText(trail)}: ${violation.message}`),
          }),
    });
  }

  /** Places are asked for by few messages, and made then. */
  #placeOf(trail: Trail | undefined): Place | undefined {
    if (trail === undefined) return this.#root;
    const place = at(this.#placeOf(trail.parent), trail.field.name);
    return trail.item === undefined ? place : at(place, trail.item);
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

/**
 * The generated checks of Envoy speak of wrappers otherwise where their values are checked, too.
 */
function requiredText(field: FieldType): string {
  const { type = '', rules = {} } = field.descriptor;
  const hasMore = Object.keys(rules).some((name) => name !== 'message');
  return wrappers.has(type) && hasMore
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
