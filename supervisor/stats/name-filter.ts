/** The `filter` parameter of the statistics pages, in both syntaxes it can have. */
import { escapeControls } from '../../shared/logging/escape.ts';
import { toByteString } from '../../shared/regex/byte-string.ts';
import { makeRegexRunner, type RegexRunner } from '../../shared/regex/run-regex.ts';
import { compileRegex } from '../regex/compile-regex.ts';
import { compileEcmaScript } from '../regex/ecmascript.ts';

/** A name filter, or the text that says why there is none. */
export type FilterCompiler = (pattern: string) => ((name: string) => boolean) | string;

export const re2Filter: FilterCompiler = (pattern) => {
  const compiled = compileRegex(pattern, { use: 'match' });
  if (!compiled.ok) return `Invalid re2 regex: ${escapeControls(compiled.error)}`;
  return containedIn(makeRegexRunner(compiled.regex));
};

/**
 * A filter in linear time; undefined for expressions that only ECMAScript knows, which a thread has
 * to match that can be ended.
 */
export function ecmaScriptFilter(pattern: string): ReturnType<FilterCompiler> | undefined {
  try {
    void new RegExp(pattern);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return escapeControls(`Invalid regex '${pattern}': ${ecmaScriptReason(error)}`);
  }
  const regex = compileEcmaScript(pattern, 'match');
  return regex && containedIn(makeRegexRunner(regex));
}

function containedIn(runner: RegexRunner): (name: string) => boolean {
  return (name) => runner.search(toByteString(name));
}

/** Why V8 refuses an expression, without the expression, which it repeats in front. */
export function ecmaScriptReason({ message }: SyntaxError): string {
  const reason = message.slice(message.lastIndexOf(': ') + 2);
  return /Unterminated group|Unmatched '\)'/.test(reason)
    ? 'The expression contained mismatched ( and ).'
    : reason;
}
