/** Finds the name that a user most likely meant. */

/** Comparing is quadratic in length; nobody's field name is longer. */
const maximumLength = 120;

/**
 * The nearest of the names by edit distance (a swap of neighbours counts once), if it is near
 * enough: a third of the word may differ. Names that begin with the word come next.
 */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  if (word.length === 0 || word.length > maximumLength) {
    return undefined;
  }
  const folded = fold(word);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const name of names) {
    if (Math.abs(name.length - word.length) < bestDistance) {
      const distance = editDistance(folded, fold(name), bestDistance);
      if (distance < bestDistance) {
        best = name;
        bestDistance = distance;
      }
    }
  }
  return best ?? names.find((name) => word.length >= 3 && fold(name).startsWith(`${folded}_`));
}

function fold(text: string): string {
  return text.toLowerCase().replaceAll('-', '_');
}

/** Damerau-Levenshtein distance over three rows; stops counting at `limit`. */
function editDistance(left: string, right: string, limit: number): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_unused, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    let smallest = row;
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1];
      if (swapped) {
        cost = Math.min(cost, (beforePrevious[column - 2] ?? 0) + 1);
      }
      current.push(cost);
      smallest = Math.min(smallest, cost);
    }
    if (smallest >= limit) {
      return limit;
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? limit;
}
