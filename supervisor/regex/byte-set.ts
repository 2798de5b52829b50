/** Builds classes of bytes: ranges, the named groups of RE2, negation, ASCII case folding. */
import type { ByteSet } from './tree.ts';

export class ByteSetBuilder {
  readonly #has = new Uint8Array(256);

  /** Adds a range; bytes above 255 do not exist and are dropped. */
  addRange(first: number, last: number, foldCase = false): void {
    for (let byte = first; byte <= Math.min(last, 255); byte++) {
      this.#has[byte] = 1;
      if (foldCase) this.#has[otherCase(byte)] = 1;
    }
  }

  addSet(set: ByteSet, foldCase = false): void {
    for (const [first, last] of set) this.addRange(first, last, foldCase);
  }

  negate(): void {
    for (let byte = 0; byte < 256; byte++) this.#has[byte] = 1 - (this.#has[byte] ?? 0);
  }

  build(): ByteSet {
    const ranges: [number, number][] = [];
    for (let byte = 0; byte < 256; byte++) {
      if (this.#has[byte] === 0) continue;
      const previous = ranges.at(-1);
      if (previous !== undefined && previous[1] === byte - 1) previous[1] = byte;
      else ranges.push([byte, byte]);
    }
    return ranges;
  }
}

/** The same ASCII letter in the other case; any other byte as it is. */
function otherCase(byte: number): number {
  if (byte >= 0x41 && byte <= 0x5a) return byte + 32;
  if (byte >= 0x61 && byte <= 0x7a) return byte - 32;
  return byte;
}

/** One byte, or both cases of a letter. */
export function setOf(byte: number, foldCase: boolean): ByteSet {
  const other = foldCase ? otherCase(byte) : byte;
  if (other === byte) return [[byte, byte]];
  const [upper, lower] = [Math.min(byte, other), Math.max(byte, other)];
  return [
    [upper, upper],
    [lower, lower],
  ];
}

/** How many bytes a class has. */
export function sizeOf(set: ByteSet): number {
  let size = 0;
  for (const [first, last] of set) size += last - first + 1;
  return size;
}

export function hasByte(set: ByteSet, byte: number): boolean {
  return set.some(([first, last]) => first <= byte && byte <= last);
}

/** Whether `A`-`Z` and `a`-`z` are in the class alike (also when no letter is). */
export function foldsAscii(set: ByteSet): boolean {
  for (let byte = 0x41; byte <= 0x5a; byte++) {
    if (hasByte(set, byte) !== hasByte(set, byte + 32)) return false;
  }
  return true;
}

export function negated(set: ByteSet): ByteSet {
  const builder = new ByteSetBuilder();
  builder.addSet(set);
  builder.negate();
  return builder.build();
}

const DIGIT: ByteSet = [[0x30, 0x39]];
const WORD: ByteSet = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** RE2's `\s` has no vertical tab, unlike the POSIX class and unlike JavaScript's. */
const PERL_SPACE: ByteSet = [
  [0x09, 0x0a],
  [0x0c, 0x0d],
  [0x20, 0x20],
];

/** `\d`, `\S` and the like, by the letter behind the backslash. */
export const PERL_CLASSES: ReadonlyMap<string, ByteSet> = new Map([
  ['d', DIGIT],
  ['D', negated(DIGIT)],
  ['s', PERL_SPACE],
  ['S', negated(PERL_SPACE)],
  ['w', WORD],
  ['W', negated(WORD)],
]);

/** The names between `[:` and `:]`; `^` before the name negates. */
export const POSIX_CLASSES: ReadonlyMap<string, ByteSet> = new Map<string, ByteSet>([
  [
    'alnum',
    [
      [0x30, 0x39],
      [0x41, 0x5a],
      [0x61, 0x7a],
    ],
  ],
  [
    'alpha',
    [
      [0x41, 0x5a],
      [0x61, 0x7a],
    ],
  ],
  ['ascii', [[0x00, 0x7f]]],
  [
    'blank',
    [
      [0x09, 0x09],
      [0x20, 0x20],
    ],
  ],
  [
    'cntrl',
    [
      [0x00, 0x1f],
      [0x7f, 0x7f],
    ],
  ],
  ['digit', DIGIT],
  ['graph', [[0x21, 0x7e]]],
  ['lower', [[0x61, 0x7a]]],
  ['print', [[0x20, 0x7e]]],
  [
    'punct',
    [
      [0x21, 0x2f],
      [0x3a, 0x40],
      [0x5b, 0x60],
      [0x7b, 0x7e],
    ],
  ],
  [
    'space',
    [
      [0x09, 0x0d],
      [0x20, 0x20],
    ],
  ],
  ['upper', [[0x41, 0x5a]]],
  ['word', WORD],
  [
    'xdigit',
    [
      [0x30, 0x39],
      [0x41, 0x46],
      [0x61, 0x66],
    ],
  ],
]);
