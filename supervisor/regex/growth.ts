/**
 * Upper bounds of work as polynomials of the text's length: `[a, b, c]` is `a + b·n + c·n²`, where
 * n is the number of places in the text (its length and one). Beyond the square there is no bound.
 */

export type Growth = readonly [constant: number, linear: number, square: number];

export const UNBOUNDED: Growth = [Infinity, Infinity, Infinity];

export function steps(count: number): Growth {
  return [count, 0, 0];
}

export function plus(...terms: readonly Growth[]): Growth {
  return [
    terms.reduce((sum, [term]) => sum + term, 0),
    terms.reduce((sum, [, term]) => sum + term, 0),
    terms.reduce((sum, [, , term]) => sum + term, 0),
  ];
}

/** The larger of two bounds, term by term. */
export function either(a: Growth, b: Growth): Growth {
  return [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.max(a[2], b[2])];
}

/** Work on one part of the text, then other work on the rest of it: the places are shared. */
export function inTurn(a: Growth, b: Growth): Growth {
  return [a[0] + b[0], Math.max(a[1], b[1]), Math.max(a[2], b[2])];
}

export function times(growth: Growth, factor: number): Growth {
  return [growth[0] * factor, growth[1] * factor, growth[2] * factor];
}

/** The work once for each place of the text. */
export function atEachPlace([constant, linear, square]: Growth): Growth {
  return square > 0 ? UNBOUNDED : [0, constant, linear];
}

export function valueAt([constant, linear, square]: Growth, places: number): number {
  return constant + linear * places + square * places * places;
}

/** The most places for which the work stays within the limit, -1 when there is none. */
export function placesWithin(growth: Growth, limit: number, most: number): number {
  if (!(growth[0] <= limit)) return -1;
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (valueAt(growth, middle) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
