/**
 * Writes the table beside a packed file from which shared/logging/call-site.ts finds lines of source, and
 * `<file>.files.json` with the names.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { encodeLineTable, LINE_BITS, type LineEntry } from '../../shared/logging/line-table.ts';

interface Payload {
  readonly sources: readonly string[];
  readonly mappings: string;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Reads the source map at `<path>.map`. The packed text is ASCII: columns are bytes. */
export function writeLineTable(projectRoot: string, path: string): void {
  const { sources, mappings } = JSON.parse(readFileSync(`${path}.map`, 'utf8')) as Payload;
  const text = readFileSync(path, 'latin1').split('\n');
  const entries: LineEntry[] = [];
  const at = { source: 0, line: 0, column: 0 };
  let lineStart = 0;
  let last = -1;
  mappings.split(';').forEach((segments, index) => {
    let column = 0;
    for (const segment of segments === '' ? [] : segments.split(',')) {
      const [columns = 0, source, line = 0] = numbersOf(segment);
      column += columns;
      if (source === undefined) continue;
      at.source += source;
      at.line += line;
      const place = at.source * 2 ** LINE_BITS + Math.min(at.line + 1, 2 ** LINE_BITS - 1);
      // Only where another line begins.
      if (place !== last) entries.push({ offset: lineStart + column, place });
      last = place;
    }
    lineStart += (text[index]?.length ?? 0) + 1;
  });
  writeFileSync(`${path}.lines`, encodeLineTable(entries));
  const names = sources.map((source) => relative(projectRoot, resolve(dirname(path), source)));
  writeFileSync(`${path}.files.json`, JSON.stringify(names));
}

/** The variable-length numbers of a segment (source map revision 3), each a difference. */
function numbersOf(segment: string): readonly number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit);
    value |= (bits & 31) << shift;
    if ((bits & 32) !== 0) {
      shift += 5;
      continue;
    }
    numbers.push((value & 1) === 0 ? value >> 1 : -(value >> 1));
    value = 0;
    shift = 0;
  }
  return numbers;
}
