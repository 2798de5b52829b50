/** Ranges of bytes that requests ask of a kept body. Source: RFC 9110, section 14. */

export interface ByteRange {
  readonly first: number;
  /** The last byte is part of it. */
  readonly last: number;
}

const RANGE = /^bytes=(\d*)-(\d*)$/;
/** A range has no more digits. */
const DIGITS_MAX = 15;

/** Undefined: the whole body, because nothing, several or no ranges were asked for. */
export function byteRange(
  text: string | undefined,
  size: number,
): ByteRange | 'not_satisfiable' | undefined {
  const [, from = '', to = ''] = RANGE.exec(text ?? '') ?? [];
  if (from.length > DIGITS_MAX || to.length > DIGITS_MAX || from + to === '') return undefined;
  if (from === '') return lastBytes(Number(to), size);
  const first = Number(from);
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < first) return undefined;
  return first >= size ? 'not_satisfiable' : { first, last };
}

function lastBytes(count: number, size: number): ByteRange | 'not_satisfiable' {
  if (count === 0 || size === 0) return 'not_satisfiable';
  return { first: Math.max(0, size - count), last: size - 1 };
}
