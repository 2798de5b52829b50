/**
 * Finds fields and enum values that the API marks as deprecated or as work in progress. Deprecated
 * ones are warnings; those that the API disallows by default are errors unless the runtime allows
 * them again, as in Envoy.
 */
import type { ApiCatalog, FieldType, MessageType } from '../api/api-catalog.ts';
import { type MessageObject, isMessageObject } from '../convert/message-object.ts';
import { type Place, type ProblemSink, at } from '../problem.ts';

/** What the runtime layers of the bootstrap say about deprecated features. */
export interface DeprecationPolicy {
  /** Whether a field that is disallowed by default may be used; the name is its full name. */
  readonly allows: (fullName: string) => boolean;
  /** `envoy.features.fail_on_any_deprecated_feature`. */
  readonly failOnAny: boolean;
}

/** How often a message uses what will go away or may change. */
export interface FeatureUses {
  /** In extensions only: the rest is read before there are statistics. */
  deprecated: number;
  workInProgress: number;
}

export interface StatusOptions {
  readonly catalog: ApiCatalog;
  readonly sink: ProblemSink;
  readonly policy: DeprecationPolicy;
  /** Counted up. */
  readonly uses: FeatureUses;
  /** Whether the message stands inside a google.protobuf.Any. */
  readonly isInAny?: boolean;
}

/** Runtime values by key, as texts. */
export type RuntimeTexts = Readonly<Record<string, string>>;

/** Envoy looks at no field's state in these. */
const BALANCERS = 'envoy.extensions.load_balancing_policies.';

/** Reports and descends into nested messages and google.protobuf.Any. */
export function checkApiStatus(
  options: StatusOptions,
  type: MessageType,
  message: MessageObject,
  place?: Place,
): void {
  reportMessage(options, type, place);
  for (const field of lookedAt(type)) {
    const value = message[field.name];
    if (value === undefined || !Object.hasOwn(message, field.name)) {
      continue;
    }
    const { deprecated, workInProgress } = field.descriptor;
    if (deprecated === true || workInProgress === true) {
      reportField(options, type, field, at(place, field.name));
    }
    if (field.kind === 'message') {
      checkNested(options, field, value, at(place, field.name));
    } else if (field.kind === 'enum') {
      reportEnumValues(options, type, field, { value, place: at(place, field.name) });
    }
  }
}

/** By type, the fields of which there may be anything to say, themselves or what is in them. */
const looked = new WeakMap<MessageType, readonly FieldType[]>();

function lookedAt(type: MessageType): readonly FieldType[] {
  let fields = looked.get(type);
  if (fields === undefined) {
    fields = type.fields.filter(({ kind, descriptor: { deprecated, workInProgress } }) => {
      const isMarked = deprecated === true || workInProgress === true;
      return isMarked || kind === 'message' || kind === 'enum';
    });
    looked.set(type, fields);
  }
  return fields;
}

/** The policy of the runtime, where that is known, else of the static layers of a bootstrap. */
export function readDeprecationPolicy(
  bootstrap: MessageObject,
  known?: RuntimeTexts,
): DeprecationPolicy {
  const values = known ?? Object.fromEntries(staticValues(bootstrap));
  const isOn = (key: string): boolean =>
    Object.hasOwn(values, key) && /^(true|1)$/.test(String(values[key]));
  const allowAll = isOn('envoy.features.enable_all_deprecated_features');
  return {
    allows: (fullName) => allowAll || isOn(`envoy.deprecated_features:${fullName}`),
    failOnAny: isOn('envoy.features.fail_on_any_deprecated_feature'),
  };
}

function staticValues(bootstrap: MessageObject): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  const runtime = bootstrap['layered_runtime'];
  const layers = isMessageObject(runtime) ? runtime['layers'] : [];
  for (const layer of Array.isArray(layers) ? (layers as unknown[]) : []) {
    const staticLayer = isMessageObject(layer) ? layer['static_layer'] : undefined;
    for (const [key, value] of Object.entries(staticLayer ?? {})) {
      values.set(key, value);
    }
  }
  return values;
}

function checkNested(options: StatusOptions, field: FieldType, value: unknown, place: Place): void {
  if (field.isList && Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      checkValue(options, field.message, value[index], at(place, index));
    }
  } else if (field.isMap && isMessageObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      checkValue(options, field.message, item, at(place, key));
    }
  } else {
    checkValue(options, field.message, value, place);
  }
}

function checkValue(
  options: StatusOptions,
  declared: MessageType,
  value: unknown,
  place: Place,
): void {
  if (!isMessageObject(value)) {
    return;
  }
  if (!declared.isWellKnown) {
    checkApiStatus(options, declared, value, place);
    return;
  }
  const url = value['@type'];
  if (declared.fullName !== 'google.protobuf.Any' || typeof url !== 'string') {
    return;
  }
  const type = options.catalog.findMessage(url.slice(url.lastIndexOf('/') + 1));
  if (type !== undefined && !type.isWellKnown) {
    checkApiStatus({ ...options, isInAny: true }, type, value, place);
  }
}

function reportMessage(options: StatusOptions, type: MessageType, place: Place | undefined): void {
  if (type.workInProgress) {
    options.uses.workInProgress += 1;
    options.sink.report({
      severity: 'warning',
      place,
      message: `message '${type.fullName}' is marked as work-in-progress: it may change or go without notice`,
      rule: 'work_in_progress',
    });
  }
}

function reportField(
  options: StatusOptions,
  type: MessageType,
  field: FieldType,
  place: Place,
): void {
  const fullName = `${type.fullName}.${field.name}`;
  const { deprecated, workInProgress } = field.descriptor;
  if (workInProgress === true) {
    options.uses.workInProgress += 1;
    options.sink.report({
      severity: 'warning',
      place,
      message: `field '${fullName}' is marked as work-in-progress: it may change or go without notice`,
      rule: 'work_in_progress',
    });
  }
  if (deprecated === true) reportDeprecated(options, type, field, place);
}

function reportDeprecated(
  options: StatusOptions,
  type: MessageType,
  field: FieldType,
  place: Place,
): void {
  const fullName = `${type.fullName}.${field.name}`;
  const { disallowedByDefault } = field.descriptor;
  const overridden = disallowedByDefault === true && options.policy.allows(fullName);
  // What stands outside of extensions is read before the runtime can forbid it.
  const { isInAny = false, policy, uses } = options;
  const forbidden = isInAny && policy.failOnAny;
  const refused = forbidden || (disallowedByDefault === true && !overridden);
  if (isInAny && !type.fullName.startsWith(BALANCERS)) uses.deprecated += 1;
  const how = overridden
    ? 'Using runtime overrides to continue using now fatal-by-default deprecated option'
    : 'Using deprecated option';
  const text = `${how} '${fullName}' from file ${baseName(type.file)}`;
  options.sink.report({
    severity: refused ? 'error' : 'warning',
    place,
    message: refused
      ? `${text}; it is refused unless the runtime sets envoy.deprecated_features:${fullName}`
      : text,
    rule: refused ? 'deprecated_refused' : 'deprecated',
    ...(refused ? { reference: `type ${type.fullName} ${text}` } : {}),
  });
}

function reportEnumValues(
  options: StatusOptions,
  type: MessageType,
  field: FieldType,
  { value, place }: { value: unknown; place: Place },
): void {
  const deprecated = field.enum.descriptor.deprecated;
  if (deprecated === undefined) {
    return;
  }
  for (const name of Array.isArray(value) ? (value as unknown[]) : [value]) {
    if (typeof name === 'string' && Object.hasOwn(deprecated, name)) {
      options.sink.report({
        severity: 'warning',
        place,
        message: `Using deprecated value ${name} for enum '${type.fullName}.${field.name}' from file ${baseName(type.file)}`,
        rule: 'deprecated',
      });
    }
  }
}

function baseName(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}
