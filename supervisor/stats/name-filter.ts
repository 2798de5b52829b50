/** The `filter` parameter of the statistics pages, in both syntaxes it can have. */
import { toByteString } from '../../shared/regex/byte-string.ts';
import { compileRegex } from '../regex/compile-regex.ts';
import { allowLinearEngine, isLinearInV8 } from '../../shared/regex/linear-engine.ts';
import { makeRegexRunner } from '../../shared/regex/run-regex.ts';

/** A name filter, or the text that says why there is none. */
export type FilterCompiler = (pattern: string) => ((name: string) => boolean) | string;

export const re2Filter: FilterCompiler = (pattern) => {
  const compiled = compileRegex(pattern, { use: 'match' });
  if (!compiled.ok) return `Invalid re2 regex: ${compiled.error}`;
  const runner = makeRegexRunner(compiled.regex);
  return (name) => runner.search(toByteString(name));
};

/** Runs an expression here: only for those that `mayBacktrack` clears. */
export const ecmaScriptFilter: FilterCompiler = (pattern) => {
  try {
    const regex = new RegExp(pattern);
    return (name) => regex.test(name);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return `Invalid regex '${pattern}': ${ecmaScriptReason(error)}`;
  }
};

/** Whether a valid ECMAScript expression could take more than linear time. */
export function mayBacktrack(pattern: string): boolean {
  allowLinearEngine();
  try {
    return new RegExp(pattern) instanceof RegExp && !isLinearInV8(pattern);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return false;
  }
}

/** Why V8 refuses an expression, without the expression, which it repeats in front. */
export function ecmaScriptReason({ message }: SyntaxError): string {
  const reason = message.slice(message.lastIndexOf(': ') + 2);
  return /Unterminated group|Unmatched '\)'/.test(reason)
    ? 'The expression contained mismatched ( and ).'
    : reason;
}
