/**
 * Runs regular expressions that the supervisor compiled, over byte strings (latin1). Each text goes
 * to the engine that is sure to be fast with it: V8 up to the length that the supervisor found, the
 * linear engine beyond, which is made when the first text needs it.
 */
import type { BacktrackingLimits, CompiledRegex } from '../resources/routes/matchers.ts';
import { allowLinearEngine } from './linear-engine.ts';
import { LinearMatcher } from './linear/matcher.ts';
import { checkProgram } from './linear/program.ts';
import { parseSubstitution, type Substitution, type SubstitutionPart } from './substitution.ts';

export interface RegexRunner {
  /** Whether the whole text matches. */
  test(text: string): boolean;
  /** Whether some part of the text matches. */
  search(text: string): boolean;
  /**
   * Where the first match and its groups lie: begin and end of each, -1 for a group that is not part
   * of it. Undefined without a match. Only for patterns compiled for their groups.
   */
  groups(text: string): readonly number[] | undefined;
  /**
   * Replaces every match; `\0` to `\9` in the substitution stand for groups, `\\` for a backslash.
   */
  replaceAll(text: string, substitution: string): string;
}

/** Throws when the pattern was compiled by another build and cannot be read. */
export function makeRegexRunner(regex: CompiledRegex): RegexRunner {
  return new Runner(regex);
}

class Runner implements RegexRunner {
  readonly #regex: CompiledRegex;
  readonly #substitutionOf = rememberSubstitution();
  readonly #wholeLimit: number;
  readonly #partLimit: number;
  readonly #whole: RegExp;
  readonly #part: RegExp;
  #every: RegExp | undefined;
  #placed: RegExp | undefined;
  #groupCount = 0;
  #linear: LinearMatcher | undefined;

  constructor(regex: CompiledRegex) {
    this.#regex = regex;
    this.#wholeLimit = regex.whole.anyText;
    this.#partLimit = regex.part.anyText;
    this.#whole = forV8(`^(?:${regex.source})$`, '');
    this.#part = forV8(regex.source, '');
    if (regex.program !== '') checkProgram(regex.program);
  }

  test(text: string): boolean {
    if (text.length <= this.#wholeLimit || suitsV8(text, this.#regex.whole)) {
      return this.#whole.test(text);
    }
    return this.#linearMatcher().test(text);
  }

  search(text: string): boolean {
    if (text.length <= this.#partLimit || suitsV8(text, this.#regex.part)) {
      return this.#part.test(text);
    }
    return this.#linearMatcher().search(text);
  }

  groups(text: string): readonly number[] | undefined {
    if (suitsV8(text, this.#regex.part)) {
      this.#placed ??= forV8(this.#regex.source, 'd');
      // A group that is not part of the match has no place.
      return this.#placed
        .exec(text)
        ?.indices?.flatMap((place?: readonly number[]) => place ?? [-1, -1]);
    }
    let first: readonly number[] | undefined;
    this.#linearMatcher().eachMatch(text, (slots) => {
      first ??= [...slots];
    });
    return first;
  }

  replaceAll(text: string, substitution: string): string {
    const { parts, highestGroup } = this.#substitutionOf(substitution);
    return suitsV8(text, this.#regex.part)
      ? this.#replaceByV8(text, parts, highestGroup)
      : this.#replaceByLinear(text, parts, highestGroup);
  }

  #replaceByV8(text: string, parts: readonly SubstitutionPart[], highestGroup: number): string {
    const { source } = this.#regex;
    if (this.#every === undefined) {
      this.#every = forV8(source, 'g');
      this.#groupCount = (new RegExp(`${source}|`).exec('')?.length ?? 1) - 1;
    }
    const groupCount = this.#groupCount;
    if (highestGroup > groupCount) return text;
    let end = -1;
    return text.replace(this.#every, (...groups: unknown[]) => {
      const match = String(groups[0]);
      const start = Number(groups[groupCount + 1]);
      // As RE2: an empty match right behind the match before is none.
      if (match === '' && start === end) return '';
      end = start + match.length;
      return fill(parts, groups);
    });
  }

  #replaceByLinear(text: string, parts: readonly SubstitutionPart[], highestGroup: number): string {
    const matcher = this.#linearMatcher();
    if (highestGroup > matcher.captures) return text;
    let result = '';
    let position = 0;
    matcher.eachMatch(text, (slots) => {
      const [start = 0, end = 0] = slots;
      result += text.slice(position, start);
      for (const part of parts) {
        result += typeof part === 'string' ? part : groupOf(text, slots, part);
      }
      position = end;
    });
    return result + text.slice(position);
  }

  #linearMatcher(): LinearMatcher {
    this.#linear ??= new LinearMatcher(this.#regex.program);
    return this.#linear;
  }
}

function suitsV8(text: string, { anyText, oneLine }: BacktrackingLimits): boolean {
  return text.length <= anyText || (text.length <= oneLine && !text.includes('\n'));
}

/** V8 has a net of its own, which a pattern that is proved fast never falls into. */
function forV8(source: string, flags: string): RegExp {
  allowLinearEngine();
  return new RegExp(source, flags);
}

function groupOf(text: string, slots: Int32Array, group: number): string {
  const start = slots[2 * group] ?? -1;
  return start < 0 ? '' : text.slice(start, slots[2 * group + 1]);
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
