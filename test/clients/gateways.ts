/** What the agents of Istio and Envoy Gateway ask, byte for byte, by a small Go program. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { startSluice } from '../support/sluice.ts';
import { CONFIGURATION, MINUTES_MS, hasGo, outcomeOf, withoutGo } from './outcome.ts';
import type { Outcome } from './outcome.ts';

const SOURCE = join(import.meta.dirname, '../../../test/clients/gateways');

/** What the shutdown managers of Istio and Envoy Gateway ask, decoded by the rules of their source. */
export async function drainAsGateways(): Promise<Outcome> {
  const client = 'questions of Istio and Envoy Gateway';
  if (!hasGo()) return withoutGo(client);
  await using sluice = await startSluice({ bootstrap: CONFIGURATION });
  const run = spawnSync('go', ['run', '.', `127.0.0.1:${sluice.adminPort}`], {
    cwd: SOURCE,
    encoding: 'utf8',
    timeout: 10 * MINUTES_MS,
  });
  return outcomeOf(client, run.status === 0, run.stdout + run.stderr);
}
