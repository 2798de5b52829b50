/** What V8 holds in the processes of a measured server once all garbage is collected. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { waitUntil } from '../../../test/support/wait.ts';
import type { ProcessMemory } from './memory-probe.ts';
import { treeOf } from './processes.ts';

const PROBE = join(import.meta.dirname, 'memory-probe.js');

/** Arguments of Node.js with which each process reports to `folder` when it is asked. */
export function probeArguments(folder: string): readonly string[] {
  const url = pathToFileURL(PROBE);
  url.searchParams.set('folder', folder);
  return ['--expose-gc', `--import=${url.href}`];
}

/** The sum over a server, started with those arguments, and all its descendants. */
export async function heldMemory(folder: string, root: number): Promise<ProcessMemory> {
  const sum = { heapUsed: 0, heapTotal: 0, young: 0, external: 0 };
  for (const pid of treeOf(root)) {
    const memory = await heldBy(folder, pid);
    sum.heapUsed += memory.heapUsed;
    sum.heapTotal += memory.heapTotal;
    sum.young += memory.young;
    sum.external += memory.external;
  }
  return sum;
}

/** The same of one process. */
export async function heldBy(folder: string, pid: number): Promise<ProcessMemory> {
  const path = join(folder, `${pid}.json`);
  process.kill(pid, 'SIGWINCH');
  await waitUntil(`memory of ${pid}`, () => existsSync(path));
  const memory = JSON.parse(readFileSync(path, 'utf8')) as ProcessMemory;
  rmSync(path);
  return memory;
}
