/** Replacement texts of regular expressions: `\\1` for a group, `\\\\` for a backslash. */

/** Literal text, or the number of a group. */
export type SubstitutionPart = string | number;

export interface Substitution {
  /** What is written for a match: all up to the first mistake, as RE2 does it. */
  readonly parts: readonly SubstitutionPart[];
  /** A pattern with fewer groups replaces nothing at all. */
  readonly highestGroup: number;
  /** What is wrong, in RE2's words. */
  readonly error?: string;
}

export function parseSubstitution(text: string): Substitution {
  const parts: SubstitutionPart[] = [];
  let highestGroup = 0;
  for (const [piece, digit] of text.matchAll(PIECE)) {
    if (digit !== undefined) {
      parts.push(Number(digit));
      highestGroup = Math.max(highestGroup, Number(digit));
    } else if (!piece.startsWith('\\')) {
      parts.push(piece);
    } else if (piece === '\\\\') {
      parts.push('\\');
    } else {
      const error =
        piece === '\\'
          ? "Rewrite schema error: '\\' not allowed at end."
          : "Rewrite schema error: '\\' must be followed by a digit or '\\'.";
      return { parts, highestGroup, error };
    }
  }
  return { parts, highestGroup };
}

/** Plain text, or a backslash with what stands behind it. */
const PIECE = /[^\\]+|\\(?:([0-9])|[^]?)/g;
