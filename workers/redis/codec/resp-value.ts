/**
 * One value of the Redis protocol and how it is written: RESP2, or RESP3 towards a peer that has
 * agreed to it. Text is latin-1, one character per byte.
 */

/** Kinds by the byte that stands in front of them. */
export const RespKind = {
  array: '*',
  bulk: '$',
  simple: '+',
  error: '-',
  integer: ':',
  nothing: '_',
  boolean: '#',
  double: ',',
  bigNumber: '(',
  blobError: '!',
  verbatim: '=',
  map: '%',
  set: '~',
  push: '>',
} as const;

export type RespKind = (typeof RespKind)[keyof typeof RespKind];

export type RespVersion = 2 | 3;

const NO_ITEMS: readonly RespValue[] = [];

/** One shape for all kinds: most code asks for the kind and then for one of the two others. */
export class RespValue {
  readonly kind: RespKind;
  /** The text of everything but arrays, maps, sets and pushes; a boolean is `t` or `f`. */
  readonly text: string;
  /** The items; those of a map are names and values in turn. */
  readonly items: readonly RespValue[];

  constructor(kind: RespKind, text: string, items: readonly RespValue[] = NO_ITEMS) {
    this.kind = kind;
    this.text = text;
    this.items = items;
  }

  get isError(): boolean {
    return this.kind === RespKind.error || this.kind === RespKind.blobError;
  }
}

export const NOTHING = new RespValue(RespKind.nothing, '');
export const OK = new RespValue(RespKind.simple, 'OK');

export const bulk = (text: string): RespValue => new RespValue(RespKind.bulk, text);
export const simple = (text: string): RespValue => new RespValue(RespKind.simple, text);
export const integer = (number: number | bigint): RespValue =>
  new RespValue(RespKind.integer, String(number));
export const array = (items: readonly RespValue[]): RespValue =>
  new RespValue(RespKind.array, '', items);

/** A line break within it would end the message for the peer: control characters become spaces. */
export const errorValue = (text: string): RespValue =>
  new RespValue(RespKind.error, withoutControls(text));

// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\x00-\x1f\x7f]/g;

function withoutControls(text: string): string {
  return text.replace(CONTROLS, ' ');
}

/** A command as clients send it. */
export function encodeCommand(words: readonly string[]): string {
  let text = `*${words.length}\r\n`;
  for (const word of words) text += `$${word.length}\r\n${word}\r\n`;
  return text;
}

export function encodeValue(value: RespValue, version: RespVersion): string {
  const { kind, text } = value;
  switch (kind) {
    case RespKind.bulk:
      return `$${text.length}\r\n${text}\r\n`;
    case RespKind.simple:
    case RespKind.error:
    case RespKind.integer:
      return `${kind}${text}\r\n`;
    case RespKind.array:
      return encodeItems(kind, value.items, value.items.length, version);
    default:
      return version === 3 ? encodeResp3(value) : encodeForResp2(value);
  }
}

function encodeItems(
  kind: RespKind,
  items: readonly RespValue[],
  count: number,
  version: RespVersion,
): string {
  let text = `${kind}${count}\r\n`;
  for (const item of items) text += encodeValue(item, version);
  return text;
}

function encodeResp3({ kind, text, items }: RespValue): string {
  switch (kind) {
    case RespKind.nothing:
      return '_\r\n';
    case RespKind.blobError:
    case RespKind.verbatim:
      return `${kind}${text.length}\r\n${text}\r\n`;
    case RespKind.map:
      return encodeItems(kind, items, items.length / 2, 3);
    case RespKind.set:
    case RespKind.push:
      return encodeItems(kind, items, items.length, 3);
    default:
      return `${kind}${text}\r\n`;
  }
}

/** What RESP2 has in place of the newer kinds. */
function encodeForResp2({ kind, text, items }: RespValue): string {
  switch (kind) {
    case RespKind.nothing:
      return '$-1\r\n';
    case RespKind.boolean:
      return text === 't' ? ':1\r\n' : ':0\r\n';
    case RespKind.blobError:
      return `-${withoutControls(text)}\r\n`;
    case RespKind.verbatim: {
      // Behind the three letters of its format and a colon.
      const plain = text.slice(4);
      return `$${plain.length}\r\n${plain}\r\n`;
    }
    case RespKind.map:
    case RespKind.set:
    case RespKind.push:
      return encodeItems(RespKind.array, items, items.length, 2);
    default:
      return `$${text.length}\r\n${text}\r\n`;
  }
}

/** Kind by kind the same; of numbers, by their digits. */
export function isSameValue(left: RespValue, right: RespValue): boolean {
  return (
    left.kind === right.kind &&
    left.text === right.text &&
    left.items.length === right.items.length &&
    left.items.every((item, at) => {
      const other = right.items[at];
      return other !== undefined && isSameValue(item, other);
    })
  );
}
