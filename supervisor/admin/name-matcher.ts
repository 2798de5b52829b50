/** Regular expressions that clients send, in RE2 syntax and run in linear time. */
import { toByteString } from '../../shared/regex/byte-string.ts';
import { compileRegex } from '../regex/compile-regex.ts';
import { makeRegexRunner } from '../../shared/regex/run-regex.ts';

export interface NameMatcher {
  /** The pattern matches somewhere in the name. */
  contains(name: string): boolean;
  /** The pattern matches the whole name. */
  matches(name: string): boolean;
}

export type CompiledName =
  | { readonly ok: true; readonly matcher: NameMatcher }
  /** `reason` is RE2's own text, such as `missing ]: [`. */
  | { readonly ok: false; readonly matcher?: undefined; readonly reason: string };

export function compileNameMatcher(pattern: string): CompiledName {
  const compiled = compileRegex(pattern, { use: 'match' });
  if (!compiled.ok) return { ok: false, reason: compiled.error };
  const runner = makeRegexRunner(compiled.regex);
  return {
    ok: true,
    matcher: {
      contains: (name) => runner.search(toByteString(name)),
      matches: (name) => runner.test(toByteString(name)),
    },
  };
}
