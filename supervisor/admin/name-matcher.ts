/** Regular expressions that clients send, in RE2 syntax and run in linear time. */
import { toByteString } from '../../shared/regex/byte-string.ts';
import { parsed, type BadParam, type Param } from '../http-pages/params.ts';
import { compileRegex } from '../regex/compile-regex.ts';
import { makeRegexRunner } from '../../shared/regex/run-regex.ts';

export interface NameMatcher {
  /** The pattern matches somewhere in the name. */
  contains(name: string): boolean;
  /** The pattern matches the whole name. */
  matches(name: string): boolean;
}

/** A parameter that is a pattern; `refusal` is told RE2's own words, such as `missing ]: [`. */
export function nameMatcher(
  help: string,
  refusal: (reason: string, pattern: string) => BadParam,
): Param<NameMatcher | undefined> {
  return parsed(
    help,
    (pattern) => {
      const compiled = compileRegex(pattern, { use: 'match' });
      if (!compiled.ok) return refusal(compiled.error, pattern);
      const runner = makeRegexRunner(compiled.regex);
      return {
        contains: (name) => runner.search(toByteString(name)),
        matches: (name) => runner.test(toByteString(name)),
      };
    },
    undefined,
  );
}
