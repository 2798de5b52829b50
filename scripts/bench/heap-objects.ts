/**
 * Which objects a running process holds, counted by what they are, from V8's own snapshot of its
 * heap. Compiled code and what V8 keeps beside it are left out: they grow with what was called, not
 * with what is held. The process must have been started with the arguments of `snapshotArguments`.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../../test/support/wait.ts';

const SIGNAL = 'SIGUSR2';
const LIMIT_MS = 120_000;
const COUNTED = new Set(['object', 'closure', 'native', 'regexp', 'bigint', 'symbol']);
/** Parts of objects, which have no name of their own; tables of maps are among them. */
const GROUPS = new Map([['array', 'arrays']]);
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

export interface Held {
  readonly count: number;
  /** The objects alone count, without what they refer to. */
  readonly bytes: number;
}

/** Arguments of Node.js. */
export function snapshotArguments(folder: string): readonly string[] {
  return [`--heapsnapshot-signal=${SIGNAL}`, `--diagnostic-dir=${folder}`];
}

/** By constructor; texts as one. */
export async function heapObjects(folder: string, pid: number): Promise<ReadonlyMap<string, Held>> {
  process.kill(pid, SIGNAL);
  const read = (): Snapshot | undefined => {
    const name = readdirSync(folder).find((each) => each.includes(`.${pid}.`));
    if (name === undefined) return undefined;
    const text = readFileSync(join(folder, name), 'utf8');
    // Else it is being written.
    return /\]\}\s*$/.test(text.slice(-16)) ? (JSON.parse(text) as Snapshot) : undefined;
  };
  const found = await waitUntil(`the snapshot of ${pid}`, read, LIMIT_MS);
  for (const name of readdirSync(folder)) {
    if (name.includes(`.${pid}.`) && name.endsWith('.heapsnapshot')) rmSync(join(folder, name));
  }
  return count(found);
}

/** What there is more of, most bytes first. */
export function objectsMore(
  before: ReadonlyMap<string, Held>,
  after: ReadonlyMap<string, Held>,
): readonly (readonly [name: string, more: Held])[] {
  return [...after]
    .map(([name, { count, bytes }]) => {
      const known = before.get(name) ?? NONE;
      return [name, { count: count - known.count, bytes: bytes - known.bytes }] as const;
    })
    .filter(([, more]) => more.count > 0 || more.bytes > 0)
    .toSorted(([, left], [, right]) => right.bytes - left.bytes);
}

const NONE: Held = { count: 0, bytes: 0 };

function count({ snapshot, nodes, strings }: Snapshot): ReadonlyMap<string, Held> {
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeAt, nameAt, sizeAt] = ['type', 'name', 'self_size'].map((each) =>
    fields.indexOf(each),
  ) as [number, number, number];
  const counts = new Map<string, Held>();
  for (let at = 0; at < nodes.length; at += fields.length) {
    const type = types[0][nodes[at + typeAt] ?? 0] ?? '';
    const name = strings[nodes[at + nameAt] ?? 0] ?? '';
    const key = TEXTS.has(type) ? 'texts' : COUNTED.has(type) ? name : GROUPS.get(type);
    if (key === undefined) continue;
    const { count: known, bytes } = counts.get(key) ?? NONE;
    counts.set(key, { count: known + 1, bytes: bytes + (nodes[at + sizeAt] ?? 0) });
  }
  return counts;
}
