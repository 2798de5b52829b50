/** Who uses which base id: two servers of one id are two epochs of one server. */
import type { Finding } from './finding.ts';
import { describeHolder, holderOf, unixSockets } from './port-holders.ts';

const SOCKET = /_parent_(\d+)$/;
/** The epochs of an id have numbers of their own. */
const NUMBERS_PER_ID = 10;

export function* baseIdFindings(socketPath: string, wanted: number): Generator<Finding> {
  const check = 'base id';
  const inodes = new Map<number, Set<string>>();
  for (const { name, inode } of unixSockets()) {
    const number = name.startsWith(socketPath) ? SOCKET.exec(name)?.[1] : undefined;
    if (number === undefined) continue;
    const id = Math.floor(Number(number) / NUMBERS_PER_ID);
    const known = inodes.get(id) ?? new Set();
    inodes.set(id, known.add(inode));
  }
  const own = inodes.get(wanted);
  if (own === undefined) yield { check, health: 'ok', found: `${wanted} is free` };
  else {
    yield {
      check,
      health: 'warning',
      found: `${wanted} is used by ${describeHolder(holderOf(own))}`,
      cause: 'another server with this id is taken for an epoch of the same server',
      cure: 'start with --restart-epoch for a hot restart, else with another --base-id or --use-dynamic-base-id',
    };
  }
  for (const [id, used] of inodes) {
    if (id === wanted) continue;
    yield { check, health: 'ok', found: `${id} is used by ${describeHolder(holderOf(used))}` };
  }
}
