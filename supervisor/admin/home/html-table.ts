/** Tables of the home page, made row by row. */

/** Cells, which are HTML already. */
export type Row = readonly string[];

export function table(title: string, heads: readonly string[], rows: readonly Row[]): string {
  return [...tableInSteps(title, heads, rows)].join('');
}

/** Nothing at all without rows; undefined is a place to pause at. */
export function* tableInSteps(
  title: string,
  heads: readonly string[],
  rows: Iterable<Row | undefined>,
): Generator<string> {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join('');
  // Wide tables scroll, which the keyboard has to reach.
  let opening =
    `<section><h2>${title}</h2>\n<div class="scroll" role="group" aria-label="${title}" ` +
    `tabindex="0"><table><thead><tr>${head}</tr></thead>\n<tbody>\n`;
  let isEmpty = true;
  for (const cells of rows) {
    if (cells === undefined) {
      yield '';
      continue;
    }
    const row = cells.map((cell) => `<td>${cell}</td>`).join('');
    yield `${opening}<tr class="row">${row}</tr>\n`;
    opening = '';
    isEmpty = false;
  }
  if (!isEmpty) yield `</tbody></table></div></section>\n`;
}
