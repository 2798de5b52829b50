/**
 * Which objects a running process holds, counted by what they are, from V8's own snapshot of its heap.
 * Compiled code and what V8 keeps beside it are left out: they grow with what was called, not with what
 * is held. The process must have been started with the arguments of `snapshotArguments`.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../../test/support/wait.ts';

const SIGNAL = 'SIGUSR2';
const COUNTED = new Set(['object', 'closure', 'native', 'regexp', 'bigint', 'symbol']);
const TEXTS = new Set(['string', 'concatenated string', 'sliced string']);

/** The part that is read of what V8 writes: nodes are rows of numbers. */
interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[]];
    };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** Arguments of Node.js. */
export function snapshotArguments(folder: string): readonly string[] {
  return [`--heapsnapshot-signal=${SIGNAL}`, `--diagnostic-dir=${folder}`];
}

/** By constructor; texts as one. */
export async function heapObjects(
  folder: string,
  pid: number,
): Promise<ReadonlyMap<string, number>> {
  process.kill(pid, SIGNAL);
  const read = (): Snapshot | undefined => {
    const name = readdirSync(folder).find((each) => each.includes(`.${pid}.`));
    if (name === undefined) return undefined;
    try {
      return JSON.parse(readFileSync(join(folder, name), 'utf8')) as Snapshot;
    } catch {
      return undefined; // it is being written
    }
  };
  const found = await waitUntil(`the snapshot of ${pid}`, read, 30_000);
  for (const name of readdirSync(folder)) {
    if (name.includes(`.${pid}.`) && name.endsWith('.heapsnapshot')) rmSync(join(folder, name));
  }
  return count(found);
}

/** How many of each there are more, the most first. */
export function objectsMore(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): readonly (readonly [name: string, more: number])[] {
  return [...after]
    .map(([name, number]) => [name, number - (before.get(name) ?? 0)] as const)
    .filter(([, more]) => more > 0)
    .toSorted(([, left], [, right]) => right - left);
}

function count({ snapshot, nodes, strings }: Snapshot): ReadonlyMap<string, number> {
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeAt, nameAt] = [fields.indexOf('type'), fields.indexOf('name')];
  const counts = new Map<string, number>();
  for (let at = 0; at < nodes.length; at += fields.length) {
    const type = types[0][nodes[at + typeAt] ?? 0] ?? '';
    const name = strings[nodes[at + nameAt] ?? 0] ?? '';
    const key = TEXTS.has(type) ? 'texts' : COUNTED.has(type) ? name : undefined;
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
