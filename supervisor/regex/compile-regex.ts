/**
 * Checks a regular expression of the configuration and writes it for the engines that will run it:
 * V8 for texts with which it is proved to be fast (backtracking.ts), our own engine for all others.
 * Used by the supervisor; workers run the result (run-regex.ts).
 */
import type { BacktrackingLimits, CompiledRegex } from '../../shared/resources/routes/matchers.ts';
import { atOnce, type Steps } from '../loop/loop-turns.ts';
import { backtrackingBounds, type BacktrackingBounds } from './backtracking.ts';
import { placesWithin, type Growth } from './growth.ts';
import { parseInSteps, type ParsedRegex } from './parse.ts';
import { RegexSyntaxError } from './parse-escape.ts';
import { checkProgramSize, programSize } from './program-size.ts';
import { toByteString } from '../../shared/regex/byte-string.ts';
import { writeProgram } from './write-program.ts';
import { writeSource } from './write-source.ts';

export interface RegexOptions {
  /**
   * Whether captured groups or the place of a match matter (rewrites), or only whether a text
   * matches, which more patterns can be asked in V8.
   */
  readonly use: 'match' | 'replace';
  /** Largest program in RE2's measure; absent, only RE2's own bound holds. */
  readonly maxProgramSize?: number;
  /** The limit stands in the pattern's own message instead of coming from the runtime. */
  readonly isOwnLimit?: boolean;
}

export type RegexResult =
  | { readonly ok: true; readonly regex: CompiledRegex; readonly captures: number }
  /** `error` is worded as Envoy words it. */
  | { readonly ok: false; readonly error: string };

/** Never throws. Imports no engine: patterns are only written here. */
export function compileRegex(pattern: string, options: RegexOptions): RegexResult {
  return atOnce(compileInSteps(pattern, options));
}

/** As `compileRegex`, for patterns that may be long and come while the server is live. */
export function* compileInSteps(pattern: string, options: RegexOptions): Steps<RegexResult> {
  const parsed = yield* parse(toByteString(pattern));
  yield;
  if (typeof parsed === 'string') return { ok: false, error: parsed };
  const tooLarge = checkSize(pattern, parsed, options);
  yield;
  if (tooLarge !== undefined) return { ok: false, error: tooLarge };
  try {
    return {
      ok: true,
      regex: yield* write(pattern, parsed, options.use),
      captures: parsed.captures,
    };
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, error: TOO_LARGE };
    throw error;
  }
}

function* parse(pattern: string): Steps<ParsedRegex | string> {
  try {
    return yield* parseInSteps(pattern);
  } catch (error) {
    if (error instanceof RegexSyntaxError) return error.message;
    throw error;
  }
}

function checkSize(
  pattern: string,
  { root }: ParsedRegex,
  { maxProgramSize: limit, isOwnLimit }: RegexOptions,
): string | undefined {
  let size = 0;
  try {
    if (limit === undefined) checkProgramSize(root);
    else size = programSize(root);
  } catch (error) {
    if (error instanceof RangeError) return TOO_LARGE;
    throw error;
  }
  if (limit === undefined || size <= limit) return undefined;
  const where = isOwnLimit === true ? '' : ' set for the error level threshold';
  return (
    `regex '${pattern}' RE2 program size of ${size} > max program size of ${limit}${where}. ` +
    'Increase configured max program size if necessary.'
  );
}

const TOO_LARGE = 'pattern too large - compile failed';

/** As many steps as V8 may make with a text, about 20 µs. */
export const STEP_LIMIT = 16_384;
/** Texts of any length are V8's where the steps for each byte are no more than this. */
const STEPS_PER_BYTE = 12;

const ANY_LENGTH = Number.MAX_SAFE_INTEGER;
const NEVER: BacktrackingLimits = { anyText: -1, oneLine: -1 };

function* write(
  pattern: string,
  parsed: ParsedRegex,
  use: RegexOptions['use'],
): Steps<CompiledRegex> {
  const source = writeSource(parsed.root, use === 'replace') ?? '';
  const way = use === 'replace' ? 'every' : 'part';
  yield;
  const limits = source === '' ? undefined : yield* limitsOf(parsed);
  yield;
  const whole = limits?.('whole') ?? NEVER;
  const part = limits?.(way) ?? NEVER;
  const isAlwaysV8 = whole.anyText === ANY_LENGTH && part.anyText === ANY_LENGTH;
  const isNeverV8 = whole.oneLine < 1 && part.oneLine < 1;
  return {
    pattern,
    source: isNeverV8 ? '' : source,
    whole: isNeverV8 ? NEVER : whole,
    part: isNeverV8 ? NEVER : part,
    program: isAlwaysV8 ? '' : writeProgram(parsed, use),
  };
}

function* limitsOf({
  root,
}: ParsedRegex): Steps<(way: keyof BacktrackingBounds) => BacktrackingLimits> {
  const anyText = backtrackingBounds(root, { oneLine: false });
  yield;
  const oneLine = backtrackingBounds(root, { oneLine: true });
  return (way) => ({ anyText: longest(anyText[way]), oneLine: longest(oneLine[way]) });
}

function longest(growth: Growth): number {
  const [constant, linear, square] = growth;
  if (square === 0 && linear <= STEPS_PER_BYTE && constant <= STEP_LIMIT) return ANY_LENGTH;
  // A text has one place more than bytes.
  return Math.max(-1, placesWithin(growth, STEP_LIMIT, STEP_LIMIT) - 1);
}
