/**
 * Runs regular expressions that the supervisor compiled. Texts are byte strings (latin1); re2js is
 * loaded only when a pattern needs it.
 */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import type { CompiledRegex } from '../resources/matchers.ts';
import { allowLinearEngine } from './linear-engine.ts';
import { parseSubstitution, type Substitution, type SubstitutionPart } from './substitution.ts';

export interface RegexRunner {
  /** Whether the whole text matches. */
  test(text: string): boolean;
  /** Whether some part of the text matches. */
  search(text: string): boolean;
  /** Replaces every match; `\0` to `\9` in the substitution stand for groups, `\\` for a backslash. */
  replaceAll(text: string, substitution: string): string;
}

/** Throws when the pattern was compiled by another build and cannot be read. */
export function makeRegexRunner(regex: CompiledRegex): RegexRunner {
  return regex.engine === 'v8' ? v8Runner(regex) : re2Runner(regex);
}

function v8Runner({ source, flags }: CompiledRegex): RegexRunner {
  allowLinearEngine();
  const whole = new RegExp(`^(?:${source})$`, flags);
  const part = new RegExp(source, flags);
  let every: RegExp | undefined;
  let groupCount = 0;
  const substitutionOf = rememberSubstitution();
  return {
    test: (text) => whole.test(text),
    search: (text) => part.test(text),
    replaceAll(text, substitution) {
      if (every === undefined) {
        every = new RegExp(source, `${flags}g`);
        groupCount = (new RegExp(`${source}|`).exec('')?.length ?? 1) - 1;
      }
      const { parts, highestGroup } = substitutionOf(substitution);
      if (highestGroup > groupCount) return text;
      let end = -1;
      return text.replace(every, (...groups: unknown[]) => {
        const match = String(groups[0]);
        const start = Number(groups[groupCount + 1]);
        // As RE2: an empty match right behind the match before is none.
        if (match === '' && start === end) return '';
        end = start + match.length;
        return fill(parts, groups);
      });
    },
  };
}

/** Rewrites are configured: a runner sees the same substitution every time. */
function rememberSubstitution(): (text: string) => Substitution {
  let lastText: string | undefined;
  let last: Substitution = { parts: [], highestGroup: 0 };
  return (text) => {
    if (text !== lastText) last = parseSubstitution(text);
    lastText = text;
    return last;
  };
}

function fill(parts: readonly SubstitutionPart[], groups: readonly unknown[]): string {
  let text = '';
  for (const part of parts) {
    const value = typeof part === 'string' ? part : groups[part];
    if (typeof value === 'string') text += value;
  }
  return text;
}

function re2Runner({ source }: CompiledRegex): RegexRunner {
  const { RE2JS } = loadRe2();
  const pattern = RE2JS.compile(source);
  const substitutionOf = rememberSubstitution();
  return {
    test: (text) => pattern.matches(text),
    search: (text) => pattern.matcher(text).find(),
    replaceAll(text, substitution) {
      const { parts, highestGroup } = substitutionOf(substitution);
      const matcher = pattern.matcher(text);
      if (highestGroup > matcher.groupCount()) return text;
      let result = '';
      let end = -1;
      let position = 0;
      while (matcher.find()) {
        const start = matcher.start();
        if (start === matcher.end() && start === end) continue;
        end = matcher.end();
        const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, n) => matcher.group(n));
        result += text.slice(position, start) + fill(parts, groups);
        position = end;
      }
      return result + text.slice(position);
    },
  };
}

interface Re2Module {
  readonly RE2JS: typeof RE2JS;
}

let re2Module: Re2Module | undefined;

/** Loaded by need and at once: a matcher is made in the middle of applying an update. */
function loadRe2(): Re2Module {
  re2Module ??= createRequire(import.meta.url)('re2js') as Re2Module;
  return re2Module;
}
