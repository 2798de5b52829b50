/** What running a client of others against the server came to. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap, httpListener, staticCluster } from '../support/parts/bootstrap.ts';
import { startSluice } from '../support/programs/sluice.ts';

export interface Outcome {
  readonly client: string;
  readonly result: 'passed' | 'failed' | 'left out';
  readonly detail: string;
}

export const MINUTES_MS = 60_000;

/** One listener, one route, one cluster. */
export const CONFIGURATION = bootstrap({
  listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }])],
  clusters: [staticCluster('up', [9])],
});

export function hasProgram(name: string, words: readonly string[]): boolean {
  return spawnSync(name, words).status === 0;
}

export function hasGo(): boolean {
  return hasProgram('go', ['version']);
}

export function leftOut(client: string, why: string): Outcome {
  return { client, result: 'left out', detail: why };
}

export function withoutGo(client: string): Outcome {
  return leftOut(client, 'go is not installed');
}

/** Runs the Go program in this folder of test/clients against a server of its own. */
export async function outcomeOfGo(client: string, folder: string): Promise<Outcome> {
  if (!hasGo()) return withoutGo(client);
  await using sluice = await startSluice({ bootstrap: CONFIGURATION });
  const run = spawnSync('go', ['run', '.', `127.0.0.1:${sluice.adminPort}`], {
    cwd: join(import.meta.dirname, '../../../test/clients', folder),
    encoding: 'utf8',
    timeout: 10 * MINUTES_MS,
  });
  return outcomeOf(client, run.status === 0, run.stdout + run.stderr);
}

export function outcomeOf(client: string, passed: boolean, output: string): Outcome {
  return { client, result: passed ? 'passed' : 'failed', detail: passed ? '' : output };
}
