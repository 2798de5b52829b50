/** An epoch that is watched while it starts, and may never become live. */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Epochs } from './epochs.ts';
import { fetchOnce } from '../peers/http-client.ts';
import { MAIN } from './sluice.ts';
import { waitUntil } from '../wait.ts';

export interface Child {
  readonly process: ChildProcess;
  log(): string;
}

/** The phases of an epoch that takes over, each by what stands in its log when it is reached. */
export const CHILD_PHASES = [
  { phase: 'it reads its configuration', line: 'initializing epoch 1', accepts: false },
  { phase: 'it has taken sockets', line: 'of tcp://', accepts: false },
  { phase: 'it has closed the admin interface', line: 'admin address:', accepts: true },
  { phase: 'it awaits what it depends on', line: 'warming -> initializing', accepts: true },
  { phase: 'its workers start', line: 'starting workers', accepts: true },
  { phase: 'it is live', line: 'starting main dispatch loop', accepts: true },
] as const;

export function spawnChild(epochs: Epochs, more: readonly string[] = []): Child {
  const path = epochs.scratch.file('bootstrap.json');
  const words = ['-c', path, ...epochs.args(1), '--concurrency', '2', '-l', 'debug', ...more];
  const child = spawn(process.execPath, [MAIN, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { process: child, log: () => text };
}

/** Resolves when the text stands in the log; rejects when the child ends before. */
export async function seen(child: Child, line: string): Promise<void> {
  await waitUntil(`${line} in the log`, () => {
    const { exitCode } = child.process;
    if (exitCode !== null) throw new Error(`ended with ${exitCode}:\n${child.log()}`);
    return child.log().includes(line);
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}\n--- log ---\n${child.log()}`, { cause: error });
  });
}

export async function adminAnswers(epochs: Epochs): Promise<void> {
  await waitUntil('the admin interface', async () => {
    const answer = await fetchOnce({ port: epochs.adminPort, path: '/ready' }).catch(
      () => undefined,
    );
    return answer?.status === 200;
  });
}

/** The load goes on. */
export async function moreRequests(load: { finished(): number }): Promise<void> {
  const before = load.finished();
  await waitUntil('more requests', () => load.finished() > before + 50);
}

/** Connections that a killed child had accepted went with it. */
export function withoutResets(failures: readonly string[]): readonly string[] {
  return failures.filter((text) => !/ECONNRESET|socket hang up/.test(text));
}
