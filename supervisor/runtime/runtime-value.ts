/** Parses what a layer says of a key: a JSON value of a static layer, or the text of a file. */
import type { JsonObject, JsonValue } from '../../shared/api/well-known.ts';
import type { RuntimeFractionValue, RuntimeValue } from '../../shared/resources/runtime.ts';
import { sixDigits } from '../../shared/text/six-digits.ts';
import { printStructText } from './struct-text.ts';

const TRUE_WORDS = /^(?:true|True|TRUE|y|Y|yes|Yes|YES|on|On|ON)$/;
const FALSE_WORDS = /^(?:false|False|FALSE|n|N|no|No|NO|off|Off|OFF)$/;
const DENOMINATORS = { HUNDRED: 100, TEN_THOUSAND: 10_000, MILLION: 1_000_000 } as const;

/** The text is no YAML. */
export class RuntimeTextError extends Error {
  readonly code = 'runtime_text';
}

/** Undefined for lists and null, which a static layer cannot hold, and for plain structs. */
export function valueOfJson(value: JsonValue): RuntimeValue | undefined {
  switch (typeof value) {
    case 'string':
      return valueOfScalar(value);
    case 'number':
      return { text: sixDigits(value), number: value };
    case 'boolean':
      return { text: String(value), boolean: value };
    default:
      return isFraction(value) ? valueOfFraction(value as JsonObject) : undefined;
  }
}

/** Rejects with RuntimeTextError. Only texts with structure load the YAML library. */
export async function valueOfText(text: string): Promise<RuntimeValue> {
  if (!/[[\]{}:'"\n]|^\s*-\s/.test(text)) return valueOfScalar(text);
  const { default: yaml } = await import('yaml');
  let parsed: JsonValue;
  try {
    parsed = yaml.parse(text) as JsonValue;
  } catch (error) {
    if (!(error instanceof yaml.YAMLParseError)) throw error;
    throw new RuntimeTextError(describeParseError(error.message), { cause: error });
  }
  const isStruct = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  const fraction = isStruct ? readFraction(parsed as JsonObject) : undefined;
  return fraction === undefined ? { text } : { text, fraction };
}

/** A struct that names a numerator or a denominator is one value, not a folder of keys. */
export function isFraction(value: JsonValue): boolean {
  return (
    typeof value === 'object' && value !== null && ('numerator' in value || 'denominator' in value)
  );
}

/** The value that an empty struct of a static layer is. */
export function valueOfFraction(struct: JsonObject): RuntimeValue {
  const fraction = readFraction(struct);
  const text = printStructText(struct);
  return fraction === undefined ? { text } : { text, fraction };
}

function valueOfScalar(text: string): RuntimeValue {
  const word = text.trim();
  if (TRUE_WORDS.test(word)) return { text, boolean: true };
  if (FALSE_WORDS.test(word)) return { text, boolean: false };
  const number = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$|^0x[0-9a-fA-F]+$/.test(word)
    ? Number(word)
    : undefined;
  return number === undefined || !Number.isFinite(number) ? { text } : { text, number };
}

function readFraction(struct: JsonObject): RuntimeFractionValue | undefined {
  const numerator = struct['numerator'] ?? 0;
  const name = struct['denominator'] ?? 'HUNDRED';
  if (typeof numerator !== 'number' || !Number.isInteger(numerator) || numerator < 0) return;
  const known = Object.entries(DENOMINATORS).find(
    ([denominator], index) => denominator === name || index === name,
  );
  return known === undefined ? undefined : { numerator, denominator: known[1] };
}

function describeParseError(message: string): string {
  return `cannot parse the value as YAML: ${message.split('\n')[0] ?? ''}`;
}
