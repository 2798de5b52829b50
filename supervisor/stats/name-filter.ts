/** The `filter` parameter of the statistics pages, in both syntaxes it can have. */
import { escapeControls } from '../../shared/logging/escape.ts';
import { toByteString } from '../../shared/regex/byte-string.ts';
import { makeRegexRunner } from '../../shared/regex/run-regex.ts';
import type { CompiledRegex } from '../../shared/resources/routes/matchers.ts';
import type { Steps } from '../loop/loop-turns.ts';
import { compileInSteps } from '../regex/compile-regex.ts';
import { compileEcmaScriptInSteps } from '../regex/ecmascript.ts';

/** A name filter, or the text that says why there is none. */
export type NameFilter = ((name: string) => boolean) | string;

export function* re2Filter(pattern: string): Steps<NameFilter> {
  const compiled = yield* compileInSteps(pattern, { use: 'match' });
  if (!compiled.ok) return `Invalid re2 regex: ${escapeControls(compiled.error)}`;
  return yield* containedIn(compiled.regex);
}

/**
 * A filter in linear time; undefined for expressions that only ECMAScript knows, which a thread has
 * to match that can be ended.
 */
export function* ecmaScriptFilter(pattern: string): Steps<NameFilter | undefined> {
  try {
    void new RegExp(pattern);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return escapeControls(`Invalid regex '${pattern}': ${ecmaScriptReason(error)}`);
  }
  const regex = yield* compileEcmaScriptInSteps(pattern, 'match');
  return regex && (yield* containedIn(regex));
}

function* containedIn(regex: CompiledRegex): Steps<(name: string) => boolean> {
  yield;
  const runner = makeRegexRunner(regex);
  yield;
  // The engine is made with the first text, which takes as long as thousands of names.
  runner.search('');
  return (name) => runner.search(toByteString(name));
}

/** Why V8 refuses an expression, without the expression, which it repeats in front. */
export function ecmaScriptReason({ message }: SyntaxError): string {
  const reason = message.slice(message.lastIndexOf(': ') + 2);
  return /Unterminated group|Unmatched '\)'/.test(reason)
    ? 'The expression contained mismatched ( and ).'
    : reason;
}
