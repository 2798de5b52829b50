/**
 * What the bootstrap's runtime layers say about a key when the configuration is resolved. Changes
 * at run time are another part's affair.
 */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { RuntimeFraction } from '../../../shared/resources/matchers.ts';

/** A leaf of a layer; a FractionalPercent stays an object. */
export type RuntimeValue = string | number | boolean | JsonObject;

export type RuntimeLayerSettings =
  | {
      readonly kind: 'static';
      readonly name: string;
      readonly values: ReadonlyMap<string, RuntimeValue>;
    }
  | {
      readonly kind: 'disk';
      readonly name: string;
      readonly symlinkRoot: string;
      readonly subdirectory: string;
      readonly appendServiceCluster: boolean;
    }
  | { readonly kind: 'admin'; readonly name: string };

/** What the layers say together: a later layer wins. */
export class RuntimeSnapshot {
  readonly #values = new Map<string, RuntimeValue>();

  constructor(layers: readonly RuntimeLayerSettings[]) {
    for (const layer of layers) {
      if (layer.kind !== 'static') continue;
      for (const [key, value] of layer.values) this.#values.set(key, value);
    }
  }

  /** The configured number, when the key has one that is not negative. */
  integer(key: string, fallback: number): number {
    const value = this.#values.get(key);
    const number = typeof value === 'string' ? Number(value) : value;
    return typeof number === 'number' && Number.isInteger(number) && number >= 0
      ? number
      : fallback;
  }

  /** A share: a FractionalPercent, or a number of percent. */
  fraction(
    key: string,
    fallback: Pick<RuntimeFraction, 'numerator' | 'denominator'>,
  ): Pick<RuntimeFraction, 'numerator' | 'denominator'> {
    const value = this.#values.get(key);
    if (typeof value === 'object') return readFraction(value) ?? fallback;
    const percent = this.integer(key, -1);
    return percent < 0 ? fallback : { numerator: Math.min(percent, 100), denominator: 100 };
  }
}

const DENOMINATORS: Readonly<Record<string, RuntimeFraction['denominator']>> = {
  HUNDRED: 100,
  TEN_THOUSAND: 10_000,
  MILLION: 1_000_000,
};

function readFraction(
  value: JsonObject,
): Pick<RuntimeFraction, 'numerator' | 'denominator'> | undefined {
  const { numerator = 0, denominator = 'HUNDRED' } = value;
  const known = typeof denominator === 'string' ? DENOMINATORS[denominator] : undefined;
  return typeof numerator === 'number' && known !== undefined
    ? { numerator, denominator: known }
    : undefined;
}
