/** Prints JSON as protobuf does: its escapes, its numbers, its layout. */

/** A number as it is printed. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type PrintedJson =
  | null
  | boolean
  | string
  | RawJson
  | readonly PrintedJson[]
  | ReadonlyMap<string, PrintedJson>;

/** Characters that JSON allows and browsers or logs may misread are escaped as well. */
const ESCAPED = new RegExp(
  [
    '["\\\\<>]',
    '[\\u0000-\\u001f\\u007f\\u00ad]',
    '[\\u0600-\\u0604]|\\u06dd|\\u070f|[\\u17b4\\u17b5]',
    '[\\u200b-\\u200f]|[\\u2028-\\u202e]|[\\u2060-\\u2064]|[\\u206a-\\u206f]',
    '\\ufeff|[\\ufff9-\\ufffb]',
    '\\ud834[\\udd73-\\udd7a]|\\udb40[\\udc01\\udc20-\\udc7f]',
  ].join('|'),
  'g',
);
const SHORT: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

export function printJson(value: PrintedJson, addsWhitespace: boolean): string {
  if (!addsWhitespace) return plain(value);
  return `${spaced(value, '\n')}\n`;
}

function plain(value: PrintedJson): string {
  if (value instanceof Map) {
    const members = [...(value as ReadonlyMap<string, PrintedJson>)].map(
      ([key, each]) => `${quoted(key)}:${plain(each)}`,
    );
    return `{${members.join(',')}}`;
  }
  if (Array.isArray(value)) return `[${value.map(plain).join(',')}]`;
  return scalar(value as null | boolean | string | RawJson);
}

/** `newLine` has the indentation of the place. */
function spaced(value: PrintedJson, newLine: string): string {
  const inner = `${newLine} `;
  if (value instanceof Map) {
    const members = [...(value as ReadonlyMap<string, PrintedJson>)].map(
      ([key, each]) => `${inner}${quoted(key)}: ${spaced(each, inner)}`,
    );
    return members.length === 0 ? '{}' : `{${members.join(',')}${newLine}}`;
  }
  if (Array.isArray(value)) {
    const items = value.map((each: PrintedJson) => inner + spaced(each, inner));
    return items.length === 0 ? '[]' : `[${items.join(',')}${newLine}]`;
  }
  return scalar(value as null | boolean | string | RawJson);
}

function scalar(value: null | boolean | string | RawJson): string {
  if (typeof value === 'string') return quoted(value);
  return value instanceof RawJson ? value.text : String(value);
}

function quoted(text: string): string {
  return `"${text.replace(ESCAPED, escaped)}"`;
}

function escaped(char: string): string {
  const short = SHORT.get(char);
  if (short !== undefined) return short;
  let text = '';
  for (let at = 0; at < char.length; at++) {
    text += `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return text;
}

/** The digits of a number of C's printf: the shorter form that reads back as the same number. */
export function printDouble(value: number): PrintedJson {
  if (!Number.isFinite(value)) return String(value);
  const short = general(value, 15);
  return new RawJson(Number(short) === value ? short : general(value, 17));
}

export function printFloat(value: number): PrintedJson {
  if (!Number.isFinite(value)) return String(value);
  const short = general(value, 6);
  return new RawJson(Math.fround(Number(short)) === value ? short : general(value, 9));
}

/** `%.<precision>g` */
function general(value: number, precision: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', power = '0'] = value.toExponential(precision - 1).split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < precision) {
    const text = value.toFixed(Math.max(0, precision - 1 - exponent));
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  }
  const digits = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  const sign = exponent < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
