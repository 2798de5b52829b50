/** Replacement texts of regular expressions: `\1` for a group, `\\` for a backslash. */

/** Literal text, or the number of a group. */
export type SubstitutionPart = string | number;

export type SubstitutionResult =
  | {
      readonly ok: true;
      readonly parts: readonly SubstitutionPart[];
      readonly highestGroup: number;
    }
  /** `error` is RE2's. */
  | { readonly ok: false; readonly error: string };

export function parseSubstitution(text: string): SubstitutionResult {
  const parts: SubstitutionPart[] = [];
  let literal = '';
  let highestGroup = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (character !== '\\') {
      literal += character;
      continue;
    }
    index += 1;
    const escaped = text[index];
    if (escaped === undefined) {
      return { ok: false, error: "Rewrite schema error: '\\' not allowed at end." };
    }
    if (escaped === '\\') {
      literal += '\\';
    } else if (/[0-9]/.test(escaped)) {
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push(Number(escaped));
      highestGroup = Math.max(highestGroup, Number(escaped));
    } else {
      return {
        ok: false,
        error: "Rewrite schema error: '\\' must be followed by a digit or '\\'.",
      };
    }
  }
  if (literal !== '') parts.push(literal);
  return { ok: true, parts, highestGroup };
}
