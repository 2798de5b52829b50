/** The shape of the values that the option table reads, before their meaning is checked. */
import type { FlagSpec, StringsSpec } from './option-spec.ts';
import type { OptionKey, optionTable } from './option-table.ts';

type ValueOf<Spec> = Spec extends FlagSpec
  ? boolean
  : Spec extends StringsSpec
    ? readonly string[]
    : Spec extends { kind: 'uint32'; fallback: infer Fallback }
      ? Fallback extends undefined
        ? number | undefined
        : number
      : Spec extends { kind: 'string'; fallback: infer Fallback }
        ? Fallback extends undefined
          ? string | undefined
          : string
        : never;

export type RawOptions = { readonly [Key in OptionKey]: ValueOf<(typeof optionTable)[Key]> };
