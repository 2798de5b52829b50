/**
 * Runs the built program as a child process: the real `dist/src/main.js`, with a scratch folder, a
 * base id and ports of its own. Whatever happens in a test, the child is gone afterwards.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchOnce, type Answer, type Ask } from '../peers/http-client.ts';
import { makeScratch, type Scratch } from '../scratch.ts';
import { waitUntil, within } from '../wait.ts';

export const MAIN = join(import.meta.dirname, '..', '..', '..', 'src', 'main.js');

/** For a start or an end, which take a second on a machine with nothing else to do. */
const LIFE_LIMIT_MS = 60_000;

export interface RunOptions {
  /** A bootstrap as an object (written as JSON) or as YAML text. */
  readonly bootstrap?: object | string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Puts the child in a process group of its own, so that a test may signal the group. */
  readonly detached?: boolean;
  /** 1 unless told. */
  readonly concurrency?: number;
  readonly scratch?: Scratch;
  /** The program's main file, when it is not the built one itself. */
  readonly main?: string;
  /** Set where exceptions are injected; everywhere else one that was caught fails the test. */
  readonly throws?: boolean;
  /** False where the server is up and `/ready` says that it drains. */
  readonly isReady?: boolean;
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Sluice {
  readonly pid: number;
  readonly process: ChildProcess;
  readonly scratch: Scratch;
  readonly adminPort: number;
  stdout(): string;
  stderr(): string;
  /** One admin request; a path or a whole question. */
  admin(ask: string | Ask): Promise<Answer>;
  /** The value of one counter or gauge as all workers have it now; 0 when it is not there. */
  stat(name: string): Promise<number>;
  /** `/stats` with this query, with what all workers have counted. */
  stats(query: string): Promise<string>;
  /** What the supervisor has told workers by the time that the value is seen, they have done. */
  waitForStat(name: string, holds: (value: number) => boolean, limitMs?: number): Promise<number>;
  /** Resolves when every worker has done what it was told before. */
  settled(): Promise<void>;
  /** The port a listener got; the bootstrap asks for port 0. */
  listenerPort(name: string): Promise<number>;
  signal(signal: NodeJS.Signals): void;
  exited(limitMs?: number): Promise<Exit>;
  /** Ends it with SIGTERM, or SIGKILL when it does not end in time. */
  stop(): Promise<Exit>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts the program and resolves when `/ready` says LIVE; rejects with its log when it exits
 * first.
 */
export async function startSluice(options: RunOptions): Promise<Sluice> {
  const program = launch(options);
  try {
    const adminPort = await waitUntil(
      'the admin address file',
      () => {
        failIfExited(program);
        return readAdminPort(program.adminAddressPath);
      },
      LIFE_LIMIT_MS,
    );
    await waitUntil(
      options.isReady === false ? '/ready to say DRAINING' : '/ready to say LIVE',
      async () => {
        failIfExited(program);
        const answer = await fetchOnce({ port: adminPort, path: '/ready' }).catch(() => undefined);
        return options.isReady === false ? answer?.body === 'DRAINING\n' : answer?.status === 200;
      },
      LIFE_LIMIT_MS,
    );
    return makeHandle(program, adminPort);
  } catch (error) {
    program.child.kill('SIGKILL');
    throw new Error(`${String(error)}\n--- log ---\n${program.stderr()}`, { cause: error });
  }
}

export interface Finished extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program to its end: `--version`, `--mode validate`, start failures. */
export async function runSluice(
  args: readonly string[],
  limitMs = LIFE_LIMIT_MS,
  environment: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  try {
    const exit = await within(`the end of sluice ${args.join(' ')}`, closeOf(child), limitMs);
    return { ...exit, stdout, stderr };
  } finally {
    child.kill('SIGKILL');
  }
}

/** An admin block on a free port of the loopback interface. */
export const ADMIN = { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } };

interface Program {
  readonly child: ChildProcess;
  readonly scratch: Scratch;
  readonly ownScratch: boolean;
  readonly throws: boolean;
  readonly adminAddressPath: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly closed: Promise<Exit>;
}

function launch(options: RunOptions): Program {
  const scratch = options.scratch ?? makeScratch();
  const adminAddressPath = scratch.file(`admin-${process.hrtime.bigint()}.txt`);
  const args = [...(options.args ?? [])];
  if (options.bootstrap !== undefined) {
    const isText = typeof options.bootstrap === 'string';
    const path = scratch.file(isText ? 'bootstrap.yaml' : 'bootstrap.json');
    writeFileSync(path, isText ? (options.bootstrap as string) : JSON.stringify(options.bootstrap));
    args.unshift('-c', path);
  }
  if (!args.some((arg) => arg.includes('base-id') || arg === '--disable-hot-restart')) {
    args.push('--disable-hot-restart');
  }
  args.push('--admin-address-path', adminAddressPath);
  args.push('--concurrency', String(options.concurrency ?? 1));
  const child = spawn(process.execPath, [options.main ?? MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: scratch.path,
    detached: options.detached ?? false,
    env: { ...process.env, ...options.env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return {
    child,
    scratch,
    ownScratch: options.scratch === undefined,
    throws: options.throws === true,
    adminAddressPath,
    stdout: () => stdout,
    stderr: () => stderr,
    closed: closeOf(child),
  };
}

/** What `sluice.worker.exceptions` counts; the log has it of workers that are gone, too. */
function failOnExceptions({ throws, stderr }: Program): void {
  const at = throws ? -1 : stderr().indexOf('caught an exception');
  if (at >= 0) throw new Error(`sluice ${stderr().slice(at, at + 2_000)}`);
}

function makeHandle(program: Program, adminPort: number): Sluice {
  const { child } = program;
  const admin = (ask: string | Ask): Promise<Answer> =>
    fetchOnce({ port: adminPort, ...(typeof ask === 'string' ? { path: ask } : ask) });
  const valueOf = async (name: string): Promise<number> => {
    const filter = encodeURIComponent(`^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
    const { body } = await admin(`/stats?filter=${filter}`);
    return Number(body.split(': ')[1] ?? 0);
  };
  const stat = (name: string): Promise<number> => whole(() => valueOf(name), valueOf);
  // Workers read what they are told in order.
  const settled = (): Promise<void> => whole(() => Promise.resolve(), valueOf);
  const exited = (limitMs = LIFE_LIMIT_MS): Promise<Exit> =>
    within('the exit', program.closed, limitMs);
  const stop = async (): Promise<Exit> => {
    child.kill('SIGTERM');
    try {
      const exit = await exited(15_000);
      failOnExceptions(program);
      return exit;
    } finally {
      child.kill('SIGKILL');
      if (program.ownScratch) program.scratch[Symbol.dispose]();
    }
  };
  return {
    pid: child.pid ?? 0,
    process: child,
    scratch: program.scratch,
    adminPort,
    stdout: program.stdout,
    stderr: program.stderr,
    admin,
    stat,
    stats: (query) => whole(async () => (await admin(`/stats?${query}`)).body, valueOf),
    waitForStat: (name, holds, limitMs) =>
      waitUntil(
        `${name} as wanted`,
        async () => {
          const value = await valueOf(name);
          return holds(value) ? { value } : undefined;
        },
        limitMs,
      ).then(async ({ value }) => {
        await settled();
        return value;
      }),
    settled,
    listenerPort: async (name) => {
      const { body } = await admin('/listeners?format=json');
      return portOf(body, name);
    },
    signal: (signal) => void child.kill(signal),
    exited,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

/**
 * Reads until no worker was late: one that has other things to do for 100 ms is not waited for, and
 * what it has counted since its last answer is missing.
 */
async function whole<T>(
  read: () => Promise<T>,
  valueOf: (name: string) => Promise<number>,
): Promise<T> {
  const late = (): Promise<number> => valueOf('sluice.stats.late_workers');
  for (let before = await late(); ;) {
    const found = await read();
    const after = await late();
    if (after === before) return found;
    before = after;
  }
}

interface ListenersPage {
  readonly listener_statuses?: readonly {
    readonly name: string;
    readonly local_address: { readonly socket_address?: { readonly port_value: number } };
  }[];
}

function portOf(body: string, name: string): number {
  const page = JSON.parse(body) as ListenersPage;
  const found = page.listener_statuses?.find((listener) => listener.name === name);
  const port = found?.local_address.socket_address?.port_value;
  if (port === undefined) throw new Error(`no listener ${name} in ${body}`);
  return port;
}

function readAdminPort(path: string): number | undefined {
  if (!existsSync(path)) return undefined;
  const match = /:(\d+)$/.exec(readFileSync(path, 'utf8').trim());
  return match === null ? undefined : Number(match[1]);
}

function failIfExited(program: Program): void {
  const { exitCode, signalCode } = program.child;
  if (exitCode !== null || signalCode !== null) {
    throw new Error(`sluice ended early: ${exitCode ?? signalCode}`);
  }
}

function closeOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}
