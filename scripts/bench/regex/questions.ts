/** Patterns and texts of the benchmark of regular expressions. */
import {
  RE2_BENCHMARKS,
  SLOW_PATTERNS,
  USUAL_PATTERNS,
} from '../../../test/support/parts/regex-patterns.ts';

export interface RegexQuestion {
  readonly name: string;
  readonly pattern: string;
  readonly text: string;
  readonly way: 'whole' | 'part' | 'replace';
  /** re2js would take minutes. */
  readonly isSlowForPort?: boolean;
}

/** About what all headers of a request may have. */
const LONG = 59_000;
const PATH = '/api/v1/users/12345/items/abcdef';

const printable = Array.from({ length: LONG }, (_, index) =>
  String.fromCharCode(0x20 + ((index * 7919) % 89)),
).join('');

function filled(unit: string, tail: string): string {
  return unit.repeat(Math.floor(LONG / unit.length)) + tail;
}

const WAYS = ['whole', 'part', 'replace'] as const;

export const QUESTIONS: readonly RegexQuestion[] = [
  ...USUAL_PATTERNS.flatMap((pattern) =>
    WAYS.map((way) => ({ name: `usual ${pattern}`, pattern, text: PATH, way })),
  ),
  ...RE2_BENCHMARKS.flatMap(([name, pattern]) =>
    WAYS.map((way) => ({ name, pattern, text: printable, way, isSlowForPort: true })),
  ),
  ...SLOW_PATTERNS.flatMap(([pattern, seed, tail]) =>
    WAYS.map((way) => ({
      name: `slow ${pattern}`,
      pattern,
      text: filled(seed, tail),
      way,
      isSlowForPort: true,
    })),
  ),
];
