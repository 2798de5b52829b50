/**
 * ECMAScript's expressions, which statistics may be filtered and tagged by, for the engines of RE2's
 * syntax: those that say the same in both. What only ECMAScript knows (look-around, references to
 * groups) or reads otherwise is left to the engine that can end a match that takes too long.
 */
import type { CompiledRegex } from '../../shared/resources/routes/matchers.ts';
import { atOnce, type Steps } from '../loop/loop-turns.ts';
import { compileInSteps, type RegexOptions } from './compile-regex.ts';

/** One character, `.`, an escape that is the same in both, or a class of such. */
const ATOM =
  /\\(?:[dDwW]|[!-/:-@[-`{-~])|[ !"#%&',\-/0-9:->@A-Z_`a-z~]|\.|\[(?!\^?\])\^?(?:\\(?:[dDwW]|[!-/:-@[-`{-~])|[ -Z^-~])+\]/y;
const ASSERTION = /[\^$]|\\[bB]/y;
const OPENING = /\((?:\?:)?/y;
const QUANTIFIER = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y;

/** `replace` where groups matter. Undefined: not the same in both. */
export function compileEcmaScript(
  pattern: string,
  use: RegexOptions['use'],
): CompiledRegex | undefined {
  return atOnce(compileEcmaScriptInSteps(pattern, use));
}

/** As `compileEcmaScript`. */
export function* compileEcmaScriptInSteps(
  pattern: string,
  use: RegexOptions['use'],
): Steps<CompiledRegex | undefined> {
  if (!isCommon(pattern, use === 'replace')) return undefined;
  const compiled = yield* compileInSteps(pattern, { use });
  return compiled.ok ? compiled.regex : undefined;
}

/**
 * Groups within repeats begin again with each repeat in ECMAScript, which must not be empty either,
 * and keep what they found before in RE2: such expressions are not common when groups matter.
 */
function isCommon(pattern: string, groupsMatter: boolean): boolean {
  let depth = 0;
  let at = 0;
  const takes = (part: RegExp): string | undefined => {
    part.lastIndex = at;
    const found = part.exec(pattern)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  while (at < pattern.length) {
    if (takes(ATOM) !== undefined) {
      takes(QUANTIFIER);
    } else if (takes(OPENING) !== undefined) {
      depth += 1;
    } else if (pattern[at] === ')' && depth > 0) {
      depth -= 1;
      at += 1;
      if (takes(QUANTIFIER) !== undefined && groupsMatter) return false;
    } else if (pattern[at] === '|') {
      at += 1;
    } else if (takes(ASSERTION) === undefined) {
      return false;
    }
  }
  return depth === 0;
}
