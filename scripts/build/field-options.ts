/** Reads the options of a field that the product uses, above all its `validate.rules`. */
import type protobuf from 'protobufjs';
import type { FieldDescriptor, FieldRules } from '../../shared/api/descriptor.ts';

type RawOptions = Record<string, unknown>;
type FieldOptions = Partial<
  Pick<
    FieldDescriptor,
    | 'rules'
    | 'deprecated'
    | 'deprecatedAt'
    | 'disallowedByDefault'
    | 'workInProgress'
    | 'sensitive'
    | 'unpacked'
  >
>;

export function readFieldOptions(field: protobuf.Field): FieldOptions {
  const options = mergeOptions(field);
  const deprecatedAt = options['(envoy.annotations.deprecated_at_minor_version)'];
  const rules = options['(validate.rules)'];
  return {
    ...flag('deprecated', options['deprecated']),
    ...flag('disallowedByDefault', options['(envoy.annotations.disallowed_by_default)']),
    ...flag('sensitive', options['(udpa.annotations.sensitive)']),
    ...flag('workInProgress', readPath(options, 'work_in_progress')),
    ...flag('unpacked', options['packed'] === false),
    ...(typeof deprecatedAt === 'string' ? { deprecatedAt } : {}),
    ...(isRecord(rules) ? { rules: readRules(rules) } : {}),
  };
}

function flag<K extends string>(name: K, value: unknown): Partial<Record<K, true>> {
  return (value === true ? { [name]: true } : {}) as Partial<Record<K, true>>;
}

function readPath(options: RawOptions, member: string): unknown {
  const status = options['(xds.annotations.v3.field_status)'];
  return isRecord(status) ? status[member] : undefined;
}

/** protobufjs keeps one object per written option; options given in several parts become one. */
function mergeOptions(field: protobuf.Field): RawOptions {
  const merged: RawOptions = {};
  const parsed: unknown = field.parsedOptions ?? [];
  for (const option of Array.isArray(parsed) ? parsed : []) {
    if (isRecord(option)) {
      mergeInto(merged, option);
    }
  }
  return merged;
}

function mergeInto(target: RawOptions, source: RawOptions): void {
  for (const [key, value] of Object.entries(source)) {
    const known = target[key];
    if (isRecord(known) && isRecord(value)) {
      mergeInto(known, value);
    } else {
      target[key] = value;
    }
  }
}

const listRules: ReadonlySet<string> = new Set(['in', 'not_in']);
const numeric = /^(float|double|u?int32|u?int64|sint32|sint64|fixed32|fixed64|sfixed32|sfixed64)$/;

/** Numeric families become `number`, lists written with one element become lists again. */
function readRules(raw: RawOptions): FieldRules {
  const rules: RawOptions = {};
  for (const [family, body] of Object.entries(raw)) {
    if (isRecord(body)) {
      rules[numeric.test(family) ? 'number' : family] = readFamily(body);
    }
  }
  return rules;
}

function readFamily(body: RawOptions): RawOptions {
  const family: RawOptions = {};
  for (const [key, value] of Object.entries(body)) {
    if (listRules.has(key)) {
      family[key] = Array.isArray(value) ? value : [value];
    } else if ((key === 'items' || key === 'keys' || key === 'values') && isRecord(value)) {
      family[key] = readRules(value);
    } else {
      family[key] = value;
    }
  }
  return family;
}

function isRecord(value: unknown): value is RawOptions {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
