/**
 * Envoy Gateway's shutdown manager, as its own registry has it. It asks the admin interface of its
 * own port on this machine, and nothing else will do.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { httpListener } from '../support/parts/bootstrap.ts';
import { makeScratch } from '../support/scratch.ts';
import { isFree, serveOn } from './fixed-admin-port.ts';
import { hasGo, leftOut, MINUTES_MS, outcomeOf, withoutGo } from './outcome.ts';
import type { Outcome } from './outcome.ts';

const ENVOY_GATEWAY = 'github.com/envoyproxy/gateway/cmd/envoy-gateway@v1.9.1';
const ADMIN_PORT = 19_000;
const READY_FILE = '/tmp/shutdown-ready';
/** Both ways in which it drains: by failing health checks, and by the listeners first. */
const WAYS = [[], ['--health-check-failure-delay', '1s']] as const;

export async function shutDownWithEnvoyGateway(): Promise<Outcome> {
  const client = 'envoy-gateway envoy shutdown';
  if (!hasGo()) return withoutGo(client);
  if (!(await isFree(ADMIN_PORT))) return leftOut(client, `port ${ADMIN_PORT} is taken`);
  using scratch = makeScratch();
  const install = spawnSync('go', ['install', ENVOY_GATEWAY], {
    env: { ...process.env, GOBIN: scratch.path },
    encoding: 'utf8',
  });
  if (install.status !== 0) return leftOut(client, install.stderr);
  let output = '';
  for (const way of WAYS) {
    rmSync(READY_FILE, { force: true });
    const listener = httpListener([{ match: { prefix: '/' }, direct_response: { status: 200 } }]);
    await using _server = await serveOn(ADMIN_PORT, scratch, [listener]);
    const words = ['envoy', 'shutdown', '--drain-timeout', '20s', '--min-drain-duration', '1s'];
    const run = spawnSync(scratch.file('envoy-gateway'), [...words, ...way], {
      encoding: 'utf8',
      timeout: MINUTES_MS,
    });
    output = run.stdout + run.stderr;
    const isDrained = run.status === 0 && output.includes('drain sequence completed');
    if (!isDrained || !existsSync(READY_FILE)) return outcomeOf(client, false, output);
  }
  rmSync(READY_FILE, { force: true });
  return outcomeOf(client, true, output);
}
