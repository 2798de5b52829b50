/** Groups of flags within a pattern, as (?i-s). */
import { RegexSyntaxError } from './parse-escape.ts';
import { DOT_NEWLINE, FOLD_CASE, NON_GREEDY, ONE_LINE } from './tree.ts';
const FLAG_GROUP = /^\(\?([imsU]*)(-?)([imsU]*)([:)]?)/;

interface FlagGroup {
  readonly set: string;
  readonly cleared: string;
  readonly length: number;
  /** `(?i:` opens a group, `(?i)` does not. */
  readonly opens: boolean;
}

export function readFlagGroup(rest: string): FlagGroup {
  const [whole = '', set = '', minus = '', cleared = '', end = ''] = FLAG_GROUP.exec(rest) ?? [];
  if (end === '' || (minus !== '' && cleared === '')) {
    // RE2 names the text up to and with the character that it did not expect.
    const about = rest.slice(0, whole.length + (end === '' ? 1 : 0));
    throw new RegexSyntaxError('invalid perl operator', about);
  }
  return { set, cleared, length: whole.length, opens: end === ':' };
}

export function setFlag(flags: number, letter: string, on: boolean): number {
  switch (letter) {
    case 'i':
      return withBit(flags, FOLD_CASE, on);
    case 'm':
      return withBit(flags, ONE_LINE, !on);
    case 's':
      return withBit(flags, DOT_NEWLINE, on);
    default:
      return withBit(flags, NON_GREEDY, on);
  }
}

function withBit(flags: number, bit: number, on: boolean): number {
  return on ? flags | bit : flags & ~bit;
}
