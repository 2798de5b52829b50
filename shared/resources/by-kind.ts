/**
 * Tables with one row per kind of a union. A kind without a row is a type error at the table that
 * names it; a row is found through a Map.
 */
import { assert } from '../process/assert.ts';

export interface Kinded {
  readonly kind: string;
}

/** The member of a union that has this kind, alone or with other kinds. */
export type OfKind<Union extends Kinded, Kind extends Union['kind']> = Union extends Kinded
  ? Kind extends Union['kind']
    ? Union
    : never
  : never;

/** What each kind's row makes of a value of that kind. */
export type RowsByKind<Union extends Kinded, More extends readonly unknown[], Made> = {
  readonly [Kind in Union['kind']]: (value: OfKind<Union, Kind>, ...more: More) => Made;
};

export class KindTable<Union extends Kinded, More extends readonly unknown[], Made> {
  readonly #rows: ReadonlyMap<string, (value: Union, ...more: More) => Made>;

  constructor(rows: RowsByKind<Union, More, Made>) {
    // The type of the rows has checked that each takes its kind's value.
    this.#rows = new Map(Object.entries(rows));
  }

  has(value: Kinded): value is Union {
    return this.#rows.has(value.kind);
  }

  /** Calls the row of the value's kind. */
  make(value: Union, ...more: More): Made {
    const row = this.#rows.get(value.kind);
    assert(row !== undefined, `nothing makes what is of kind ${value.kind}`);
    return row(value, ...more);
  }
}
