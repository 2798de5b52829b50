/** func-e starts the server, waits for it and collects its configuration. */
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { makeScratch } from '../support/scratch.ts';
import type { Scratch } from '../support/scratch.ts';
import { MAIN } from '../support/programs/sluice.ts';
import { CONFIGURATION, hasGo, leftOut, outcomeOf, withoutGo } from './outcome.ts';
import type { Outcome } from './outcome.ts';

const FUNC_E = 'github.com/tetratelabs/func-e/cmd/func-e@v1.6.0';
/** How long func-e serves before it is told to end. */
const SERVING_MS = 10_000;

/** func-e waits for the admin's address file and /ready, and collects the CONFIGURATION. */
export function runFuncE(): Outcome {
  const client = 'func-e';
  if (!hasGo()) return withoutGo(client);
  using scratch = makeScratch();
  const program = scratch.file('sluice');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(program, 0o755);
  const { admin: _ownAdmin, ...withoutAdmin } = CONFIGURATION as Record<string, unknown>;
  writeFileSync(scratch.file('bootstrap.json'), JSON.stringify(withoutAdmin));
  const environment = {
    ...process.env,
    GOBIN: scratch.path,
    ENVOY_PATH: program,
    FUNC_E_HOME: scratch.path,
  };
  const install = spawnSync('go', ['install', FUNC_E], { env: environment, encoding: 'utf8' });
  if (install.status !== 0) return leftOut(client, install.stderr);
  const run = spawnSync(scratch.file('func-e'), ['run', '-c', scratch.file('bootstrap.json')], {
    env: environment,
    encoding: 'utf8',
    timeout: SERVING_MS,
    killSignal: 'SIGINT',
  });
  return outcomeOf(client, hasCollectedDump(scratch), run.stdout + run.stderr);
}

function hasCollectedDump(scratch: Scratch): boolean {
  const dump = readdirSync(scratch.path, { recursive: true, encoding: 'utf8' }).find((file) =>
    file.endsWith('config_dump.json'),
  );
  return dump !== undefined && readFileSync(scratch.file(dump), 'utf8').includes('"configs"');
}
