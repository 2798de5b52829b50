/**
 * Istio's agent, built from its module: its `request` command asks the admin interface of its own
 * port on this machine. `test/clients/istio/go.mod` names the versions, with those that the module
 * proxy has where Istio's own go.mod names others.
 */
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { httpListener } from '../support/parts/bootstrap.ts';
import { makeScratch } from '../support/scratch.ts';
import { isFree, serveOn } from './fixed-admin-port.ts';
import { hasGo, leftOut, MINUTES_MS, outcomeOf, withoutGo } from './outcome.ts';
import type { Outcome } from './outcome.ts';

const SOURCE = join(import.meta.dirname, '../../../test/clients/istio');
const ADMIN_PORT = 15_000;

/** What is asked, and what its answer holds. */
const QUESTIONS: readonly (readonly [method: string, path: string, holds: string])[] = [
  ['GET', 'server_info', '"state": "LIVE"'],
  [
    'GET',
    'stats?usedonly&filter=^(server\\.state|listener_manager\\.workers_started)',
    'server.state: 0',
  ],
  ['GET', 'config_dump', 'envoy.admin.v3.BootstrapConfigDump'],
  ['GET', 'clusters?format=json', '{'],
  ['POST', 'logging?level=info', 'active loggers:'],
  ['POST', 'drain_listeners?inboundonly&graceful&skip_exit', 'OK'],
  ['POST', 'quitquitquit', 'OK'],
];

export async function askWithPilotAgent(): Promise<Outcome> {
  const client = 'pilot-agent request';
  if (!hasGo()) return withoutGo(client);
  if (!(await isFree(ADMIN_PORT))) return leftOut(client, `port ${ADMIN_PORT} is taken`);
  using scratch = makeScratch();
  const agent = scratch.file('pilot-agent');
  // The build adds to go.mod what Istio needs in its turn.
  const module = scratch.file('istio');
  cpSync(SOURCE, module, { recursive: true });
  const build = spawnSync('go', ['build', '-o', agent, 'istio.io/istio/pilot/cmd/pilot-agent'], {
    cwd: module,
    encoding: 'utf8',
    env: { ...process.env, GOFLAGS: '-mod=mod' },
  });
  if (build.status !== 0) return leftOut(client, build.stderr);
  const listener = httpListener([{ match: { prefix: '/' }, direct_response: { status: 200 } }]);
  await using _server = await serveOn(ADMIN_PORT, scratch, [listener]);
  for (const [method, path, holds] of QUESTIONS) {
    const run = spawnSync(agent, ['request', method, path], {
      encoding: 'utf8',
      timeout: MINUTES_MS,
    });
    const isAnswered = run.status === 0 && run.stdout.includes(holds);
    if (!isAnswered)
      return outcomeOf(client, false, `${method} ${path}: ${run.stdout}${run.stderr}`);
  }
  return outcomeOf(client, true, '');
}
