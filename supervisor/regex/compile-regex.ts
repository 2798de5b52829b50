/**
 * Checks a regular expression of the configuration and chooses the engine that will run it:
 * V8 where its linear-time engine could take over from a match that backtracks too much, re2js
 * elsewhere. Used by the supervisor; workers run the result (run-regex.ts).
 */
import type { CompiledRegex } from '../../shared/resources/matchers.ts';
import { allowLinearEngine, isLinearInV8 } from '../../shared/regex/linear-engine.ts';
import { parseRegex, type ParsedRegex } from './parse.ts';
import { RegexSyntaxError } from './parse-escape.ts';
import { programSize } from './program-size.ts';
import { toByteString } from '../../shared/regex/byte-string.ts';
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
  /** `error` is worded as the reference words it. */
  | { readonly ok: false; readonly error: string };

/** Never throws. Imports no engine: a pattern for re2js is only written here. */
export function compileRegex(pattern: string, options: RegexOptions): RegexResult {
  const parsed = parse(toByteString(pattern));
  if (typeof parsed === 'string') return { ok: false, error: parsed };
  const tooLarge = checkSize(pattern, parsed, options);
  if (tooLarge !== undefined) return { ok: false, error: tooLarge };
  return {
    ok: true,
    regex: chooseEngine(pattern, parsed, options.use === 'replace'),
    captures: parsed.captures,
  };
}

function parse(pattern: string): ParsedRegex | string {
  try {
    return parseRegex(pattern);
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
  let size: number;
  try {
    size = programSize(root);
  } catch (error) {
    if (error instanceof RangeError) return 'pattern too large - compile failed';
    throw error;
  }
  if (limit === undefined || size <= limit) return undefined;
  const where = isOwnLimit === true ? '' : ' set for the error level threshold';
  return (
    `regex '${pattern}' RE2 program size of ${size} > max program size of ${limit}${where}. ` +
    'Increase configured max program size if necessary.'
  );
}

function chooseEngine(pattern: string, { root }: ParsedRegex, captures: boolean): CompiledRegex {
  allowLinearEngine();
  const v8Source = writeSource(root, { dialect: 'v8', captures });
  if (v8Source !== undefined && isLinearInV8(v8Source)) {
    return { pattern, engine: 'v8', source: v8Source, flags: '' };
  }
  const source = writeSource(root, { dialect: 're2js', captures }) ?? '';
  return { pattern, engine: 're2js', source, flags: '' };
}
