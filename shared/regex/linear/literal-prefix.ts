/**
 * The bytes that every match of a program begins with. The runtime finds them in a text faster than
 * a table does, and in linear time too: it changes to Boyer and Moore's search where the simple one
 * compares much.
 */
import { OP, type Program } from './program.ts';

/** Shorter ones are found often and save little. */
const LENGTH_MIN = 3;
const LENGTH_MAX = 128;

/** Nodes with one way on that take no byte. */
const PASSED: readonly number[] = [OP.start, OP.jump, OP.capture];

export function literalPrefix(program: Program): Buffer | undefined {
  if (program.isAnchored) return undefined;
  const { ops, args, forward } = program;
  const bytes: number[] = [];
  const byteOf = loneBytes(program);
  let node = program.start;
  for (let steps = 0; bytes.length < LENGTH_MAX && steps < ops.length; steps++) {
    const op = ops[node];
    if (op === OP.set) {
      const byte = byteOf(args[node] ?? 0);
      if (byte === undefined) break;
      bytes.push(byte);
    } else if (!PASSED.includes(op ?? OP.fail)) {
      break;
    }
    node = forward.to[forward.first[node] ?? 0] ?? 0;
  }
  return bytes.length < LENGTH_MIN ? undefined : Buffer.from(bytes);
}

/** Gives the only byte of a class. */
function loneBytes({
  columns,
  columnCount,
  members,
}: Program): (set: number) => number | undefined {
  return (set) => {
    let only: number | undefined;
    for (let byte = 0; byte < columns.length; byte++) {
      if (members[set * columnCount + (columns[byte] ?? 0)] !== 1) continue;
      if (only !== undefined) return undefined;
      only = byte;
    }
    return only;
  };
}
