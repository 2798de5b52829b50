/**
 * Runs programs that others wrote against the admin interface of the real server, unchanged: each is
 * fetched by its own package manager, and left out with a word when that is not there. Not part of
 * `npm test`, since it needs the network: npm run test:clients
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, httpListener, staticCluster } from '../test/support/bootstrap.ts';
import { makeScratch } from '../test/support/scratch.ts';
import type { Scratch } from '../test/support/scratch.ts';
import { waitUntil } from '../test/support/wait.ts';
import { MAIN, startSluice } from '../test/support/sluice.ts';

const CONTOUR = 'github.com/projectcontour/contour/cmd/contour@v1.33.8';
const FUNC_E = 'github.com/tetratelabs/func-e/cmd/func-e@v1.6.0';
const MINUTES_MS = 60_000;
/** How long func-e serves before it is told to end. */
const SERVING_MS = 10_000;
const sources = join(import.meta.dirname, '../../test/clients');
const configuration = bootstrap({
  listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }])],
  clusters: [staticCluster('up', [9])],
});

interface Outcome {
  readonly client: string;
  readonly result: 'passed' | 'failed' | 'left out';
  readonly detail: string;
}

const outcomes = [
  await decodeWithGo(),
  await checkWithPromtool(),
  await readProfiles(),
  await drainAsGateways(),
  await shutDownWithContour(),
  runFuncE(),
];
for (const { client, result, detail } of outcomes) {
  console.log(`${result.padEnd(9)} ${client}${detail === '' ? '' : `\n${detail}`}`);
}
process.exitCode = outcomes.some(({ result }) => result === 'failed') ? 1 : 0;

/** Strict decoding of every JSON page with go-control-plane's types. */
async function decodeWithGo(): Promise<Outcome> {
  const client = 'go-control-plane types';
  if (!hasProgram('go', ['version'])) return leftOut(client, 'go is not installed');
  await using sluice = await startSluice({ bootstrap: configuration });
  const run = spawnSync('go', ['run', '.', `127.0.0.1:${sluice.adminPort}`], {
    cwd: join(sources, 'go-control-plane'),
    encoding: 'utf8',
    timeout: 10 * MINUTES_MS,
  });
  return outcomeOf(client, run.status === 0, run.stdout + run.stderr);
}

async function checkWithPromtool(): Promise<Outcome> {
  const client = 'promtool check metrics';
  if (!hasProgram('promtool', ['--version'])) return leftOut(client, 'promtool is not installed');
  await using sluice = await startSluice({ bootstrap: configuration });
  const { body } = await sluice.admin('/stats/prometheus');
  const run = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' });
  // 3 is lint alone, which names that must be kept force; 1 is text that cannot be parsed.
  return outcomeOf(
    client,
    run.status === 0 || run.status === 3,
    run.status === 1 ? run.stderr : '',
  );
}

/** Every profile that the interface gives is read by `go tool pprof`. */
async function readProfiles(): Promise<Outcome> {
  const client = 'go tool pprof';
  if (!hasProgram('go', ['version'])) return leftOut(client, 'go is not installed');
  using scratch = makeScratch();
  const path = scratch.file('cpu.prof');
  const admin = { ...(configuration as { readonly admin: object }).admin, profile_path: path };
  await using sluice = await startSluice({ bootstrap: { ...configuration, admin } });
  const url = (page: string): string => `http://127.0.0.1:${sluice.adminPort}${page}`;
  const keep = async (page: string, method: string): Promise<string> => {
    const file = scratch.file(`${page.replaceAll(/\W/g, '_')}.prof`);
    const answer = await fetch(url(page), { method });
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
    return file;
  };
  const files = [await keep('/heap_dump', 'GET'), await keep('/peak_heap_dump', 'GET')];
  for (const page of [
    '/allocprofiler?enable=y',
    '/cpuprofiler?enable=y',
    '/heapprofiler?enable=y',
  ]) {
    await fetch(url(page), { method: 'POST' });
    for (let count = 0; count < 20; count++) await fetch(url('/config_dump'));
    const stop = page.replace('=y', '=n');
    files.push(page.startsWith('/alloc') ? await keep(stop, 'POST') : await stopAndCopy(stop));
  }
  async function stopAndCopy(stop: string): Promise<string> {
    await fetch(url(stop), { method: 'POST' });
    return path;
  }
  const runs = files.map((file) =>
    spawnSync('go', ['tool', 'pprof', '-top', file], { encoding: 'utf8' }),
  );
  const passed = runs.every(({ status, stdout }) => status === 0 && stdout.includes('flat%'));
  return outcomeOf(client, passed, runs.map(({ stdout, stderr }) => stdout + stderr).join(''));
}

/** What the shutdown managers of Istio and Envoy Gateway ask, decoded by the rules of their source. */
async function drainAsGateways(): Promise<Outcome> {
  const client = 'questions of Istio and Envoy Gateway';
  if (!hasProgram('go', ['version'])) return leftOut(client, 'go is not installed');
  await using sluice = await startSluice({ bootstrap: configuration });
  const run = spawnSync('go', ['run', '.', `127.0.0.1:${sluice.adminPort}`], {
    cwd: join(sources, 'gateways'),
    encoding: 'utf8',
    timeout: 10 * MINUTES_MS,
  });
  return outcomeOf(client, run.status === 0, run.stdout + run.stderr);
}

/** Contour's shutdown manager fails the health checks, waits for connections and writes a file. */
async function shutDownWithContour(): Promise<Outcome> {
  const client = 'contour envoy shutdown';
  if (!hasProgram('go', ['version'])) return leftOut(client, 'go is not installed');
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

/** func-e waits for the admin's address file and /ready, and collects the configuration. */
function runFuncE(): Outcome {
  const client = 'func-e';
  if (!hasProgram('go', ['version'])) return leftOut(client, 'go is not installed');
  using scratch = makeScratch();
  const program = scratch.file('sluice');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(program, 0o755);
  const { admin: _ownAdmin, ...withoutAdmin } = configuration as Record<string, unknown>;
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

function hasProgram(name: string, words: readonly string[]): boolean {
  return spawnSync(name, words).status === 0;
}

function leftOut(client: string, why: string): Outcome {
  return { client, result: 'left out', detail: why };
}

function outcomeOf(client: string, passed: boolean, output: string): Outcome {
  return { client, result: passed ? 'passed' : 'failed', detail: passed ? '' : output };
}
