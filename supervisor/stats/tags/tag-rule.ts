/**
 * One rule that takes a tag out of a statistic's name: what it matches, which characters leave the
 * name and which become the tag's value. Rules see the whole original name, never each other's
 * work.
 */
import { toByteString } from '../../../shared/regex/byte-string.ts';
import { makeRegexRunner } from '../../../shared/regex/run-regex.ts';
import { compileEcmaScript } from '../../regex/ecmascript.ts';

/** Half-open ranges within the name. */
export interface TagMatch {
  readonly removeStart: number;
  readonly removeEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export interface TagRule {
  /** For example `envoy.cluster_name`. */
  readonly tag: string;
  /** The only first token that names can have to match. Rules without one are asked first. */
  readonly firstToken?: string;
  /** Every statistic has the tag with this value; nothing is matched. */
  readonly fixedValue?: string;
  /** What a match costs is not known: it runs with a limit of time. */
  readonly isUnproved?: boolean;
  readonly match: (name: string) => TagMatch | undefined;
}

/** A tag with the same value on every statistic. */
export function fixedTag(tag: string, value: string): TagRule {
  return { tag, fixedValue: value, match: () => undefined };
}

/**
 * A rule by an expression of ours: the first group leaves the name, the second (or else the first)
 * is the value. V8 runs it, so it must be one that takes linear time.
 */
export function regexTag(tag: string, source: string): TagRule {
  return { ...regexRule(tag, source), match: matchByV8(source) };
}

/**
 * A rule by an expression of the configuration, in linear time where it can be. Throws SyntaxError
 * when the expression is none.
 */
export function configuredTag(tag: string, source: string): TagRule {
  const match = matchByV8(source);
  const regex = compileEcmaScript(source, 'replace');
  // What stands behind a bar may begin otherwise.
  const rule = source.includes('|') ? { tag } : regexRule(tag, source);
  if (regex === undefined) return { ...rule, isUnproved: true, match };
  const runner = makeRegexRunner(regex);
  return {
    ...rule,
    match: (name) => {
      const bytes = toByteString(name);
      const slots = runner.groups(bytes);
      return slots && matchOf(bytes === name ? slots : placesInText(slots, bytes));
    },
  };
}

function regexRule(tag: string, source: string): Omit<TagRule, 'match'> {
  const firstToken = /^\^(\w+)(?:\\\.|\(\?=\\\.\)|\$)(?![*?{])/.exec(source)?.[1];
  return firstToken === undefined ? { tag } : { tag, firstToken };
}

function matchByV8(source: string): TagRule['match'] {
  const regex = new RegExp(source, 'd');
  return (name) => {
    const groups = regex.exec(name)?.indices;
    return groups && matchOf(groups.flatMap((place?: readonly number[]) => place ?? [-1, -1]));
  };
}

/** Begin and end of the match and of each group; -1 for none. */
function matchOf(slots: readonly number[]): TagMatch | undefined {
  const [, , removeStart = -1, removeEnd = -1, second] = slots;
  if (removeStart < 0) return undefined;
  if (second === undefined) {
    return { removeStart, removeEnd, valueStart: removeStart, valueEnd: removeEnd };
  }
  return {
    removeStart,
    removeEnd,
    valueStart: Math.max(0, second),
    valueEnd: Math.max(0, slots[5] ?? 0),
  };
}

/** Places in a byte string as places in the text that it is made from. */
function placesInText(slots: readonly number[], bytes: string): readonly number[] {
  return slots.map((slot) =>
    slot < 0 ? slot : Buffer.from(bytes.slice(0, slot), 'latin1').toString('utf8').length,
  );
}

/**
 * A rule by the dotted tokens of a name: `*` stands for one token, a last `**` for one or more, `$`
 * for the token that becomes the value and leaves the name, anything else for itself.
 */
export function tokenTag(tag: string, pattern: string): TagRule {
  const tokens = pattern.split('.');
  const first = tokens[0] as string;
  const openEnded = tokens.at(-1) === '**';
  const fixed = openEnded ? tokens.slice(0, -1) : tokens;
  return {
    tag,
    ...(/^\w/.test(first) ? { firstToken: first } : {}),
    match: (name) => matchTokens(fixed, openEnded, name),
  };
}

function matchTokens(
  tokens: readonly string[],
  openEnded: boolean,
  name: string,
): TagMatch | undefined {
  let start = 0;
  let valueStart = -1;
  let valueEnd = -1;
  for (const token of tokens) {
    if (start > name.length) return undefined;
    const dot = name.indexOf('.', start);
    const end = dot === -1 ? name.length : dot;
    if (token === '$') {
      valueStart = start;
      valueEnd = end;
    } else if (token !== '*' && !(end - start === token.length && name.startsWith(token, start))) {
      return undefined;
    }
    // Past the last token the start lies beyond the name.
    start = end + 1;
  }
  const isMoreLeft = start <= name.length;
  if (valueStart === -1 || isMoreLeft !== openEnded) return undefined;
  const isLast = valueEnd === name.length;
  return {
    removeStart: isLast ? Math.max(0, valueStart - 1) : valueStart,
    removeEnd: isLast ? valueEnd : valueEnd + 1,
    valueStart,
    valueEnd,
  };
}
