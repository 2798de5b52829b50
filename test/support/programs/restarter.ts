/** A running `sluice-restarter`, or another program in its place, around the epochs of one test. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../../../shared/process/clock.ts';
import type { Epochs } from './epochs.ts';
import { waitUntil } from '../wait.ts';

/** For a restarter to end all its epochs. */
const END_LIMIT_MS = 20_000;

const RESTARTER = join(import.meta.dirname, '..', '..', '..', 'src', 'restarter-main.js');

export interface RunningRestarter {
  readonly process: ChildProcess;
  log(): string;
  /** Resolves when the text stands in the log. */
  saw(text: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface RestarterSetup {
  /** Words before node's, such as those of `unshare`. */
  readonly before?: readonly string[];
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The options of every epoch, in the form that a restarter passes on. */
export function epochTexts(epochs: Epochs): readonly string[] {
  return [
    `--config-path=${epochs.scratch.file('bootstrap.json')}`,
    `--base-id=${epochs.baseId}`,
    '--parent-shutdown-time-s=1',
    '--drain-time-s=1',
    '--drain-strategy=immediate',
    '--concurrency=1',
    '-l',
    'warning',
  ];
}

export function startRestarter(epochs: Epochs, setup: RestarterSetup = {}): RunningRestarter {
  const node = [process.execPath, RESTARTER, ...(setup.words ?? []), ...epochTexts(epochs)];
  return runRestarter([...(setup.before ?? []), ...node], setup.env);
}

export function runRestarter(
  [command = '', ...words]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningRestarter {
  const child = spawn(command, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return {
    process: child,
    log: () => text,
    saw: async (line) => {
      await waitUntil(`"${line}" in ${text}`, () => text.includes(line), 60_000);
    },
    // Asked first, since a killed restarter would leave its epochs behind for a while.
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      // What made a namespace for it may not pass the signal on.
      const killer = systemClock.after(END_LIMIT_MS, () => child.kill('SIGKILL'));
      await once(child, 'exit');
      killer.cancel();
    },
  };
}

export interface EpochOfStatus {
  readonly number: number;
  readonly pid: number;
  readonly state: string;
}

/** What `sluice-restarter status` prints. */
export async function restarterStatus(epochs: Epochs): Promise<readonly EpochOfStatus[]> {
  const words = [RESTARTER, 'status', '--base-id', String(epochs.baseId)];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  return (JSON.parse(stdout) as { readonly epochs: readonly EpochOfStatus[] }).epochs;
}
