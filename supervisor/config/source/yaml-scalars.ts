/**
 * What an unquoted word of YAML stands for, as Envoy reads it: YAML 1.1 booleans, C-style
 * integers that fit 32 bits as numbers, everything else as text.
 */
import type { SourceNode } from './source-node.ts';

const nullText = /^(~|null|Null|NULL|)$/;
const trueText = /^(y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const falseText = /^(n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/;
const integerText = /^[+-]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)$/;
/** Any other word that begins otherwise is a text. */
const mayBeSpecial = /^[~yYnNtTfFoO0-9+-]|^$/;

export function plainScalar(text: string, offset: number): SourceNode {
  if (!mayBeSpecial.test(text)) return { kind: 'string', value: text, offset };
  if (nullText.test(text)) return { kind: 'null', value: null, offset };
  if (trueText.test(text)) return { kind: 'boolean', value: true, offset };
  if (falseText.test(text)) return { kind: 'boolean', value: false, offset };
  const integer = integerText.test(text) ? integerValue(text) : undefined;
  if (integer === undefined) return { kind: 'string', value: text, offset };
  const small = integer >= -2147483648n && integer <= 2147483647n;
  return { kind: small ? 'number' : 'string', value: integer.toString(), offset };
}

/** Undefined when it does not fit 64 bits. */
function integerValue(text: string): bigint | undefined {
  const negative = text.startsWith('-');
  const digits = text.replace(/^[+-]/, '');
  const octal = /^0[0-7]+$/.test(digits);
  const size = BigInt(octal ? `0o${digits.slice(1)}` : digits);
  const value = negative ? -size : size;
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
