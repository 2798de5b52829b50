/**
 * One rule that takes a tag out of a statistic's name: what it matches, which characters leave the
 * name and which become the tag's value. Rules see the whole original name, never each other's
 * work.
 */

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
  readonly match: (name: string) => TagMatch | undefined;
}

/** A tag with the same value on every statistic. */
export function fixedTag(tag: string, value: string): TagRule {
  return { tag, fixedValue: value, match: () => undefined };
}

/**
 * A rule by regular expression: the first group leaves the name, the second (or else the first) is
 * the value. Throws SyntaxError when the expression is none.
 */
export function regexTag(tag: string, source: string): TagRule {
  const regex = new RegExp(source, 'd');
  const firstToken = /^\^(\w+)(?:\\\.|\(\?=\\\.\)|\$)/.exec(source)?.[1];
  return {
    tag,
    ...(firstToken === undefined ? {} : { firstToken }),
    match: (name) => {
      const groups = regex.exec(name)?.indices;
      const removed = groups?.[1];
      if (groups === undefined || removed === undefined) return undefined;
      const value = (groups.length > 2 ? groups[2] : removed) ?? [0, 0];
      return {
        removeStart: removed[0],
        removeEnd: removed[1],
        valueStart: value[0],
        valueEnd: value[1],
      };
    },
  };
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
