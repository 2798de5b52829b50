/** Contour's shutdown manager, as its own registry has it. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { bootstrap, httpListener, staticCluster } from '../support/parts/bootstrap.ts';
import { makeScratch } from '../support/scratch.ts';
import { MAIN } from '../support/programs/sluice.ts';
import { waitUntil } from '../support/wait.ts';
import { MINUTES_MS, hasGo, leftOut, outcomeOf, withoutGo } from './outcome.ts';
import type { Outcome } from './outcome.ts';

const CONTOUR = 'github.com/projectcontour/contour/cmd/contour@v1.33.8';

/** Contour's shutdown manager fails the health checks, waits for connections and writes a file. */
export async function shutDownWithContour(): Promise<Outcome> {
  const client = 'contour envoy shutdown';
  if (!hasGo()) return withoutGo(client);
  using scratch = makeScratch();
  const install = spawnSync('go', ['install', CONTOUR], {
    env: { ...process.env, GOBIN: scratch.path },
    encoding: 'utf8',
  });
  if (install.status !== 0) return leftOut(client, install.stderr);
  const socket = scratch.file('admin.sock');
  const admin = { address: { pipe: { path: socket } } };
  const program = scratch.file('contour.json');
  const listener = httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }], {
    hcm: { stat_prefix: 'ingress_http' },
  });
  const parts = bootstrap({ listeners: [listener], clusters: [staticCluster('up', [9])] });
  writeFileSync(program, JSON.stringify({ ...parts, admin }));
  const sluice = spawn(process.execPath, [MAIN, '-c', program, '--disable-hot-restart'], {
    stdio: 'ignore',
  });
  try {
    await waitUntil('the admin socket', () => existsSync(socket) || undefined, 20_000);
    const ready = scratch.file('ok');
    const words = ['envoy', 'shutdown', '--admin-address', socket, '--ready-file', ready];
    const run = spawnSync(scratch.file('contour'), [...words, '--check-interval', '100ms'], {
      encoding: 'utf8',
      timeout: MINUTES_MS,
    });
    return outcomeOf(client, run.status === 0 && existsSync(ready), run.stdout + run.stderr);
  } finally {
    sluice.kill('SIGKILL');
  }
}
