/** Reads `[...]` and `\p{...}`; the cursor stands on the first character of it. */
import { ByteSetBuilder, negated, PERL_CLASSES, POSIX_CLASSES } from './byte-set.ts';
import { parseEscape, RegexSyntaxError, type Cursor } from './parse-escape.ts';
import type { ByteSet } from './tree.ts';
import { unicodeGroup } from './unicode-groups.ts';

export function parseClass(cursor: Cursor, foldCase: boolean): ByteSet {
  const whole = cursor.rest();
  const builder = new ByteSetBuilder();
  cursor.skip(1);
  const isNegated = cursor.peek() === '^';
  if (isNegated) cursor.skip(1);
  // A closing bracket that comes first is a member.
  for (let first = true; !cursor.atEnd && (first || cursor.peek() !== ']'); first = false) {
    addMember(builder, cursor, whole, foldCase);
  }
  if (cursor.atEnd) throw new RegexSyntaxError('missing ]', whole);
  cursor.skip(1);
  const set = builder.build();
  return isNegated ? negated(set) : set;
}

function addMember(
  builder: ByteSetBuilder,
  cursor: Cursor,
  whole: string,
  foldCase: boolean,
): void {
  const letter = cursor.peek() === '\\' ? (cursor.peek(1) ?? '') : '';
  const named = namedClass(cursor) ?? PERL_CLASSES.get(letter);
  if (named !== undefined) {
    if (letter !== '') cursor.skip(2);
    builder.addSet(named, foldCase);
    return;
  }
  if ((letter === 'p' || letter === 'P') && cursor.peek(2) !== undefined) {
    builder.addSet(parseUnicodeGroup(cursor, foldCase));
    return;
  }
  const start = cursor.position;
  const first = classByte(cursor, whole);
  let last = first;
  if (cursor.peek() === '-' && cursor.peek(1) !== undefined && cursor.peek(1) !== ']') {
    cursor.skip(1);
    last = classByte(cursor, whole);
    if (last < first) {
      throw new RegexSyntaxError('invalid character class range', cursor.since(start));
    }
  }
  builder.addRange(first, last, foldCase);
}

function classByte(cursor: Cursor, whole: string): number {
  if (cursor.atEnd) throw new RegexSyntaxError('missing ]', whole);
  return cursor.peek() === '\\' ? parseEscape(cursor) : cursor.take().charCodeAt(0);
}

/** `[:name:]`, taken when it is one. */
function namedClass(cursor: Cursor): ByteSet | undefined {
  if (cursor.peek() !== '[' || cursor.peek(1) !== ':') return undefined;
  const rest = cursor.rest();
  const end = rest.indexOf(':]', 2);
  if (end < 0) return undefined;
  const name = rest.slice(2, end);
  const set = POSIX_CLASSES.get(name.startsWith('^') ? name.slice(1) : name);
  if (set === undefined) {
    throw new RegexSyntaxError('invalid character class range', rest.slice(0, end + 2));
  }
  cursor.skip(end + 2);
  return name.startsWith('^') ? negated(set) : set;
}

/** `\pL`, `\p{Greek}`, `\P{^L}`. */
export function parseUnicodeGroup(cursor: Cursor, foldCase: boolean): ByteSet {
  const start = cursor.position;
  let isNegated = cursor.peek(1) === 'P';
  cursor.skip(2);
  let name = cursor.take();
  if (name === '{') {
    const rest = cursor.rest();
    const end = rest.indexOf('}');
    if (end < 0)
      throw new RegexSyntaxError('invalid character class range', cursor.text.slice(start));
    name = rest.slice(0, end);
    cursor.skip(end + 1);
  }
  if (name.startsWith('^')) {
    isNegated = !isNegated;
    name = name.slice(1);
  }
  const group = unicodeGroup(name);
  if (group === undefined) {
    throw new RegexSyntaxError('invalid character class range', cursor.since(start));
  }
  if (!foldCase) return isNegated ? negated(group) : group;
  const builder = new ByteSetBuilder();
  builder.addSet(group, true);
  const folded = builder.build();
  return isNegated ? negated(folded) : folded;
}
