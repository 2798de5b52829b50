/**
 * Checks one value of a scalar, enum, duration or time field against its `validate.rules`. Each
 * check returns what is wrong, or undefined.
 */
import { isIP, isIPv4, isIPv6 } from '../../../shared/addresses/ip-text.ts';
import type {
  EnumRules,
  FieldRules,
  LengthRules,
  MembershipRules,
  NumberRules,
  RuleTime,
  StringRules,
  TimeRules,
} from '../../../shared/api/descriptor.ts';
import type { EnumType } from '../api/api-catalog.ts';
import { Invalid } from '../convert/scalars.ts';
import { parseDuration, parseTimestamp } from '../convert/time-text.ts';
import { boundsText, keepsBounds, lengthText, shortDuration } from './rule-text.ts';

/** The name of the rule is the one in `validate.rules`, such as `string.min_len`. */
export interface Violation {
  readonly rule: string;
  readonly message: string;
}

const headerName = "^:?[0-9a-zA-Z!#$%&'*+-.^_|~`]+$";
const headerValue = '^[^\\x00-\\b\\n-\\x1f\\x7f]*$';
const headerLoose = '^[^\\x00\\n\\r]*$';

const patterns = new Map<string, RegExp>();

export function checkString(rules: StringRules, value: string): Violation | undefined {
  if (rules.ignore_empty === true && value === '') {
    return undefined;
  }
  return (
    checkMembership('string', rules, value, (item) => item) ??
    checkLength('string', rules, characters(value), 'characters') ??
    checkByteLength(rules, value) ??
    checkParts(rules, value) ??
    checkPattern(rules, value) ??
    checkForm(rules, value)
  );
}

/** The value is base64, as in a normalised message. */
export function checkBytes(rules: LengthRules, value: string): Violation | undefined {
  const length = Buffer.byteLength(value, 'base64');
  return rules.ignore_empty === true && length === 0
    ? undefined
    : checkLength('bytes', rules, length, 'bytes');
}

/** 64-bit values and names such as `NaN` come as text. */
export function checkNumber(rules: NumberRules, given: number | string): Violation | undefined {
  const value = Number(given);
  if (rules.ignore_empty === true && value === 0) {
    return undefined;
  }
  if (rules.const !== undefined && value !== rules.const) {
    return { rule: 'number.const', message: `value must equal ${rules.const}` };
  }
  // Envoy's comparisons let a value that is not a number pass.
  if (!Number.isNaN(value) && !keepsBounds(rules, (bound) => value - bound)) {
    return { rule: 'number.range', message: boundsText(rules, String) };
  }
  return checkMembership('number', rules, value, String);
}

export function checkBool(
  rules: NonNullable<FieldRules['bool']>,
  value: boolean,
): Violation | undefined {
  return rules.const === undefined || rules.const === value
    ? undefined
    : { rule: 'bool.const', message: `value must equal ${rules.const}` };
}

export function checkEnum(
  rules: EnumRules,
  type: EnumType,
  value: string | number,
): Violation | undefined {
  const number = typeof value === 'number' ? value : (type.numberOf(value) ?? 0);
  if (rules.const !== undefined && rules.const !== number) {
    return { rule: 'enum.const', message: `value must equal ${type.nameOf(rules.const) ?? ''}` };
  }
  if (rules.defined_only === true && type.nameOf(number) === undefined) {
    return { rule: 'enum.defined_only', message: 'value must be one of the defined enum values' };
  }
  return checkMembership('enum', rules, number, (item) => type.nameOf(item) ?? String(item));
}

/** Durations are counted in 64-bit nanoseconds; Envoy refuses those that do not fit. */
const longestSeconds = 9_223_372_036n;

/** The API has no use for negative durations, whatever a field's rules say. */
export function checkDuration(rules: TimeRules, value: string): Violation | undefined {
  const time = parseDuration(value);
  if (time instanceof Invalid) {
    return undefined;
  }
  if (time.seconds < 0n || time.nanos < 0) {
    return { rule: 'duration_sign', message: 'Invalid duration: Expected positive duration' };
  }
  if (time.seconds >= longestSeconds) {
    return { rule: 'duration_size', message: 'Invalid duration: Duration out-of-range' };
  }
  return checkTime('duration', rules, time.seconds * 1_000_000_000n + BigInt(time.nanos));
}

export function checkTimestampRules(rules: TimeRules, value: string): Violation | undefined {
  const time = parseTimestamp(value);
  return time instanceof Invalid
    ? undefined
    : checkTime('timestamp', rules, time.seconds * 1_000_000_000n + BigInt(time.nanos));
}

function checkTime(family: string, rules: TimeRules, nanos: bigint): Violation | undefined {
  if (rules.const !== undefined && nanos !== ruleNanos(rules.const)) {
    return { rule: `${family}.const`, message: `value must equal ${shortDuration(rules.const)}` };
  }
  const compare = (bound: RuleTime): number => {
    const difference = nanos - ruleNanos(bound);
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  };
  return keepsBounds(rules, compare)
    ? undefined
    : { rule: `${family}.range`, message: boundsText(rules, shortDuration) };
}

function ruleNanos(time: RuleTime): bigint {
  return BigInt(time.seconds ?? 0) * 1_000_000_000n + BigInt(time.nanos ?? 0);
}

/** `in` and `not_in`, and `const` of texts. */
function checkMembership<T>(
  family: string,
  rules: MembershipRules<T>,
  value: T,
  print: (item: T) => string,
): Violation | undefined {
  if (rules.in !== undefined && !rules.in.includes(value)) {
    const list = rules.in.map(print).join(' ');
    return { rule: `${family}.in`, message: `value must be in list [${list}]` };
  }
  if (rules.not_in?.includes(value) === true) {
    const list = rules.not_in.map(print).join(' ');
    return { rule: `${family}.not_in`, message: `value must not be in list [${list}]` };
  }
  return undefined;
}

function checkLength(
  family: string,
  rules: LengthRules,
  length: number,
  unit: string,
): Violation | undefined {
  if (rules.len !== undefined && length !== rules.len) {
    return { rule: `${family}.len`, message: `value length must be ${rules.len} ${unit}` };
  }
  if (rules.min_len !== undefined && length < rules.min_len) {
    const message = lengthText(rules.min_len, rules.max_len, unit);
    return { rule: `${family}.min_len`, message };
  }
  if (rules.max_len !== undefined && length > rules.max_len) {
    const message = lengthText(rules.min_len, rules.max_len, unit);
    return { rule: `${family}.max_len`, message };
  }
  return undefined;
}

function checkByteLength(rules: StringRules, value: string): Violation | undefined {
  if (
    rules.min_bytes === undefined &&
    rules.max_bytes === undefined &&
    rules.len_bytes === undefined
  ) {
    return undefined;
  }
  const length = Buffer.byteLength(value);
  if (rules.len_bytes !== undefined && length !== rules.len_bytes) {
    return { rule: 'string.len_bytes', message: `value length must be ${rules.len_bytes} bytes` };
  }
  const short = rules.min_bytes !== undefined && length < rules.min_bytes;
  const long = rules.max_bytes !== undefined && length > rules.max_bytes;
  return short || long
    ? {
        rule: short ? 'string.min_bytes' : 'string.max_bytes',
        message: lengthText(rules.min_bytes, rules.max_bytes, 'bytes'),
      }
    : undefined;
}

function checkParts(rules: StringRules, value: string): Violation | undefined {
  if (rules.const !== undefined && value !== rules.const) {
    return { rule: 'string.const', message: `value must equal ${rules.const}` };
  }
  if (rules.prefix !== undefined && !value.startsWith(rules.prefix)) {
    return { rule: 'string.prefix', message: `value does not have prefix "${rules.prefix}"` };
  }
  if (rules.suffix !== undefined && !value.endsWith(rules.suffix)) {
    return { rule: 'string.suffix', message: `value does not have suffix "${rules.suffix}"` };
  }
  if (rules.contains !== undefined && !value.includes(rules.contains)) {
    return {
      rule: 'string.contains',
      message: `value does not contain substring "${rules.contains}"`,
    };
  }
  return rules.not_contains !== undefined && value.includes(rules.not_contains)
    ? { rule: 'string.not_contains', message: `value contains substring "${rules.not_contains}"` }
    : undefined;
}

function checkPattern(rules: StringRules, value: string): Violation | undefined {
  const pattern = rules.pattern ?? wellKnownPattern(rules);
  if (pattern === undefined || matches(pattern, value)) {
    return undefined;
  }
  return {
    rule: rules.pattern === undefined ? 'string.well_known_regex' : 'string.pattern',
    message: `value does not match regex pattern ${JSON.stringify(pattern).replaceAll('\\\\', '\\')}`,
  };
}

function wellKnownPattern(rules: StringRules): string | undefined {
  if (rules.well_known_regex === undefined) {
    return undefined;
  }
  if (rules.strict === false) {
    return headerLoose;
  }
  return rules.well_known_regex === 'HTTP_HEADER_NAME' ? headerName : headerValue;
}

/** The API's own patterns; they mean the same in both dialects. */
function matches(pattern: string, value: string): boolean {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    compiled = new RegExp(`^(?:${pattern})$`, 's');
    patterns.set(pattern, compiled);
  }
  return compiled.test(value);
}

const formChecks: readonly {
  readonly rule: keyof StringRules;
  readonly accepts: (value: string) => boolean;
  readonly name: string;
}[] = [
  { rule: 'email', accepts: (value) => /^[^@\s]+@[^@\s]+$/.test(value), name: 'email address' },
  { rule: 'hostname', accepts: isHostname, name: 'hostname' },
  { rule: 'ip', accepts: (value) => isIP(value) !== 0, name: 'ip address' },
  { rule: 'ipv4', accepts: isIPv4, name: 'ipv4 address' },
  { rule: 'ipv6', accepts: isIPv6, name: 'ipv6 address' },
  { rule: 'uri', accepts: (value) => URL.canParse(value), name: 'absolute uri' },
  {
    rule: 'uri_ref',
    accepts: (value) => URL.canParse(value, 'http://a/'),
    name: 'uri reference',
  },
  {
    rule: 'address',
    accepts: (value) => isIP(value) !== 0 || isHostname(value),
    name: 'hostname, or ip address',
  },
  {
    rule: 'uuid',
    accepts: (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value),
    name: 'UUID',
  },
];

function checkForm(rules: StringRules, value: string): Violation | undefined {
  const broken = formChecks.find(({ rule, accepts }) => rules[rule] === true && !accepts(value));
  return broken === undefined
    ? undefined
    : { rule: `string.${broken.rule}`, message: `value must be a valid ${broken.name}` };
}

function isHostname(value: string): boolean {
  const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
  return value.length <= 253 && new RegExp(`^${label}(\\.${label})*\\.?$`).test(value);
}

function characters(value: string): number {
  let count = 0;
  for (const _character of value) {
    count += 1;
  }
  return count;
}
