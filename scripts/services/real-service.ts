/** A real service as a child process: started, waited for, its last words kept, gone at the end. */
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { waitUntil } from '../../test/support/wait.ts';

const START_LIMIT_MS = 30_000;
const KEPT_OUTPUT = 16_000;

export interface RealService extends AsyncDisposable {
  /** The end of what it printed. */
  output(): string;
  /** By SIGKILL where no signal is given. Resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal that does not end it. */
  signal(signal: NodeJS.Signals): void;
}

export interface ServiceStart {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Started when each of them accepts connections. */
  readonly ports: readonly number[];
}

/** Rejects with its output when it ends before its ports are open. */
export async function startService(start: ServiceStart): Promise<RealService> {
  const { command, args = [], env = {}, cwd, ports } = start;
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-KEPT_OUTPUT);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  let isGone = false;
  const gone = new Promise<void>((resolve) => {
    child.once('error', (error) => keep(Buffer.from(String(error))));
    child.once('close', () => {
      isGone = true;
      resolve();
    });
  });
  const kill = (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    child.kill(signal);
    return gone;
  };
  try {
    for (const port of ports) {
      const isOpen = async (): Promise<true | undefined> => {
        if (isGone) throw new Error(`${command} has ended: ${output}`);
        return (await accepts(port)) ? true : undefined;
      };
      await waitUntil(`port ${port} of ${command}`, isOpen, START_LIMIT_MS);
    }
  } catch (error) {
    await kill();
    throw error;
  }
  const signal = (name: NodeJS.Signals): void => void child.kill(name);
  return { output: () => output, kill, signal, [Symbol.asyncDispose]: () => kill() };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
