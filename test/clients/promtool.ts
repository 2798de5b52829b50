/** Prometheus' own check of a scrape. */
import { spawnSync } from 'node:child_process';
import { startSluice } from '../support/programs/sluice.ts';
import { CONFIGURATION, hasProgram, leftOut, outcomeOf } from './outcome.ts';
import type { Outcome } from './outcome.ts';

export async function checkWithPromtool(): Promise<Outcome> {
  const client = 'promtool check metrics';
  if (!hasProgram('promtool', ['--version'])) return leftOut(client, 'promtool is not installed');
  await using sluice = await startSluice({ bootstrap: CONFIGURATION });
  const { body } = await sluice.admin('/stats/prometheus');
  const run = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' });
  // 3 is lint alone, which names that must be kept force; 1 is text that cannot be parsed.
  return outcomeOf(
    client,
    run.status === 0 || run.status === 3,
    run.status === 1 ? run.stderr : '',
  );
}
