/**
 * go-control-plane's own integration scripts, with their bootstraps and ports, start this server as
 * they start Envoy. Their client waits 100 ms for an answer and seven seconds in all, so that a
 * busy machine fails them.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isFree } from '../fixed-admin-port.ts';
import { hasGo, leftOut, MINUTES_MS, outcomeOf, withoutGo } from '../outcome.ts';
import type { Outcome } from '../outcome.ts';
import { makeScratch } from '../../support/scratch.ts';
import { copyModule, writeServerProgram } from './go-module.ts';

const MODULES = [
  ['github.com/envoyproxy/go-control-plane@v0.14.0', '.'],
  ['github.com/envoyproxy/go-control-plane/envoy@v1.36.0', 'envoy'],
  ['github.com/envoyproxy/go-control-plane/ratelimit@v0.1.0', 'ratelimit'],
] as const;
const PROGRAMS = [
  ['bin/test', 'pkg/test/main/main.go'],
  ['bin/upstream', 'internal/upstream/main.go'],
] as const;
/** Those of its Makefile, then the others that the script has flags for. */
const SCENARIOS: readonly (readonly [mode: string, ...flags: string[]])[] = [
  ['xds'],
  ['ads'],
  ['rest'],
  ['xds', '-mux'],
  ['delta'],
  ['delta-ads'],
  ['ads', '-mux'],
  ['xds', '-tls'],
  ['ads', '-tls'],
  ['rest', '-tls'],
  ['delta', '-tls'],
  ['delta-ads', '-tls'],
];
const PORT = 18_000;

export async function runIntegrationScripts(): Promise<Outcome> {
  const client = "go-control-plane's integration scripts";
  if (!hasGo()) return withoutGo(client);
  if (!(await isFree(PORT))) return leftOut(client, `port ${PORT} is taken`);
  using scratch = makeScratch();
  const folder = scratch.file('module');
  for (const [module, at] of MODULES) {
    const problem = copyModule(module, scratch.file(`module/${at}`));
    if (problem !== undefined) return leftOut(client, problem);
  }
  for (const [program, source] of PROGRAMS) {
    const build = spawnSync('go', ['build', '-o', program, source], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (build.status !== 0) return leftOut(client, build.stderr);
  }
  writeServerProgram(scratch, 'server');
  const failed = SCENARIOS.filter(([mode, ...flags]) => {
    const run = spawnSync(join(folder, 'scripts/integration.sh'), flags, {
      cwd: folder,
      env: { ...process.env, XDS: mode, ENVOY: scratch.file('server') },
      stdio: 'ignore',
      timeout: 2 * MINUTES_MS,
    });
    return run.status !== 0;
  });
  const passed = SCENARIOS.length - failed.length;
  const names = failed.map((words) => words.join(' ')).join(', ');
  const title = `${client}: ${passed} of ${SCENARIOS.length}`;
  return outcomeOf(title, failed.length === 0, `failed: ${names}`);
}
