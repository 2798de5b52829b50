/**
 * Child processes of a benchmark: pinned to a core, in a process group of their own, ended with the
 * benchmark; their memory as the kernel accounts it.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** The proxy runs on the first core; the load and the upstream on the second. */
export const PROXY_CORE = 0;
export const LOAD_CORE = 1;
/** The unit of times in /proc on every Linux that Node.js runs on. */
const CLOCK_TICK_MS = 10;
const NANOSECONDS_PER_MS = 1e6;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) endGroup(child);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

export interface Running {
  readonly pid: number;
  stop(): Promise<void>;
}

export function startPinned(core: number, command: readonly string[]): Running {
  const child = spawn('taskset', ['-c', String(core), ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4000)));
  running.add(child);
  let isStopped = false;
  const closed = new Promise<void>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      if (!isStopped) console.error(`${command.join(' ')} ended (${code ?? signal}): ${stderr}`);
      resolve();
    });
  });
  return {
    pid: child.pid ?? 0,
    stop: async () => {
      isStopped = true;
      endGroup(child);
      await closed;
    },
  };
}

/** Runs a pinned command to its end and returns what it printed. */
export function runPinned(core: number, command: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('taskset', ['-c', String(core), ...command], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${command.join(' ')}: exit ${code}`)),
    );
  });
}

export async function waitForPort(port: number, limitMs = 15_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return;
    if (performance.now() > deadline) throw new Error(`nothing listens on port ${port}`);
    await delay(20);
  }
}

export function isInstalled(program: string): boolean {
  return spawnSync('which', [program], { stdio: 'ignore' }).status === 0;
}

/** Sum of Pss over a process and all its descendants, in KiB. */
export function treePssKib(root: number): number {
  return sumOverTree(root, (pid) => rollupKib(pid, 'Pss'));
}

/** CPU time, user and system, that a process and all its descendants have used, in milliseconds. */
export function treeCpuMs(root: number): number {
  return sumOverTree(root, cpuMs);
}

/** The same of one process, with threads of it that have ended. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
}

/** CPU time of each thread that there is, in milliseconds by process and thread. */
export type ThreadTimes = ReadonlyMap<number, ReadonlyMap<number, number>>;

export function threadTimes(root: number): ThreadTimes {
  const ofProcess = (pid: number): ReadonlyMap<number, number> =>
    new Map(
      readdirSync(`/proc/${pid}/task`).map((thread) => [
        Number(thread),
        runTimeMs(`/proc/${pid}/task/${thread}/schedstat`),
      ]),
    );
  return new Map(treeOf(root).map((pid) => [pid, ofProcess(pid)]));
}

/**
 * What a process used between two moments: its first thread, and all others that are still there.
 */
export function usedBetween(
  [before, after]: readonly [ThreadTimes, ThreadTimes],
  pid: number,
): { readonly main: number; readonly others: number } {
  const used = { main: 0, others: 0 };
  for (const [thread, timeMs] of after.get(pid) ?? []) {
    const gained = timeMs - (before.get(pid)?.get(thread) ?? 0);
    used[thread === pid ? 'main' : 'others'] += gained;
  }
  return used;
}

function runTimeMs(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0]) / NANOSECONDS_PER_MS;
  } catch {
    return 0; // it ended between the listing and the reading
  }
}

/** Moves a process and all its descendants, with their threads, to a core. */
export function pinTree(root: number, core: number): void {
  for (const pid of treeOf(root)) {
    execFileSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' });
  }
}

/** The same without mapped files, whose share depends on who else on the machine maps them. */
export function treeAnonymousKib(root: number): number {
  return sumOverTree(root, (pid) => rollupKib(pid, 'Pss_Anon'));
}

function rollupKib(pid: number, field: string): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(rollup)?.[1] ?? 0);
}

/** Open descriptors of a process and all its descendants. */
export function treeDescriptors(root: number): number {
  return sumOverTree(root, (pid) => readdirSync(`/proc/${pid}/fd`).length);
}

function sumOverTree(root: number, measure: (pid: number) => number): number {
  return treeOf(root).reduce((sum, pid) => sum + measure(pid), 0);
}

/** A process and all its descendants. */
export function treeOf(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    } catch {
      continue; // it ended between the listing and the reading
    }
  }
  const withDescendants = (pid: number): readonly number[] => [
    pid,
    ...(children.get(pid) ?? []).flatMap(withDescendants),
  ];
  return withDescendants(root);
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // the group is gone already
  }
}
