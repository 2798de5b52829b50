/**
 * Runtime values as workers receive them: the final value of each key, parsed once. Readers give
 * the value that the configuration names as default where the key has none of the wanted kind.
 */

export interface RuntimeValue {
  /** As it was written; what `/runtime` shows. */
  readonly text: string;
  readonly number?: number;
  readonly boolean?: boolean;
  readonly fraction?: RuntimeFractionValue;
}

export interface RuntimeFractionValue {
  readonly numerator: number;
  readonly denominator: 100 | 10_000 | 1_000_000;
}

/** Replaces the earlier one as a whole. Keys are sorted. */
export type RuntimeSnapshot = ReadonlyMap<string, RuntimeValue>;
