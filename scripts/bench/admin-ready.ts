/**
 * How long `/ready` takes while two clients read `/config_dump` and `/stats/prometheus` in loops,
 * with 10,000 clusters: `node dist/scripts/bench/admin-ready.js [clusters] [seconds]`. With `envoy`
 * on the path the same is measured there, within the same run.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { makeScratch } from '../../test/support/scratch.ts';
import { MAIN } from '../../test/support/programs/sluice.ts';
import { waitUntil } from '../../test/support/wait.ts';

/**
 * First argument of a process of its own that reads large pages, so that it does not delay the
 * probe.
 */
const LOOP = 'loop';
const clusters = Number(process.argv[2] ?? 10_000);
const seconds = Number(process.argv[3] ?? 15);
/** Between two questions. */
const PAUSE_MS = 5;
const START_LIMIT_MS = 120_000;

const bootstrap = {
  admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } },
  static_resources: {
    clusters: Array.from({ length: clusters }, (_, index) => ({
      name: `service_${index}`,
      type: 'STATIC',
      load_assignment: {
        cluster_name: `service_${index}`,
        endpoints: [
          {
            lb_endpoints: [
              {
                endpoint: {
                  address: { socket_address: { address: '127.0.0.1', port_value: 10_000 + index } },
                },
              },
            ],
          },
        ],
      },
    })),
  },
};

if (process.argv[2] === LOOP) {
  await readInLoop(Number(process.argv[3]), process.argv[4] ?? '/');
} else {
  await measure('sluice', process.execPath, [MAIN]);
  if (spawnSync('envoy', ['--version']).status === 0) await measure('envoy', 'envoy', []);
}

async function measure(name: string, program: string, words: readonly string[]): Promise<void> {
  using scratch = makeScratch();
  const config = scratch.file('bootstrap.json');
  const addressPath = scratch.file('admin');
  writeFileSync(config, JSON.stringify(bootstrap));
  const options = ['-c', config, '--disable-hot-restart', '--concurrency', '1', '-l', 'off'];
  const server = spawn(program, [...words, ...options, '--admin-address-path', addressPath], {
    stdio: 'ignore',
  });
  try {
    const port = await waitUntil('the admin', () => portIn(addressPath), START_LIMIT_MS);
    await waitUntil(
      'LIVE',
      async () => (await ask(port, '/ready')).isOk || undefined,
      START_LIMIT_MS,
    );
    await report(name, port);
  } finally {
    server.kill('SIGKILL');
  }
}

function portIn(path: string): number | undefined {
  try {
    return Number(readFileSync(path, 'utf8').split(':').at(-1)) || undefined;
  } catch {
    return undefined;
  }
}

async function readInLoop(port: number, path: string): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  while ((await ask(port, path, agent)).isOk) process.stdout.write('.');
}

async function report(name: string, port: number): Promise<void> {
  let pages = 0;
  const readers = ['/config_dump', '/stats/prometheus'].map((path) => {
    const words = [import.meta.filename, LOOP, String(port), path];
    const reader = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    reader.stdout.on('data', (dots: Buffer) => (pages += dots.length));
    return reader;
  });
  const times: number[] = [];
  const agent = new Agent({ keepAlive: true });
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs) {
    times.push((await ask(port, '/ready', agent)).ms);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  for (const reader of readers) reader.kill('SIGKILL');
  agent.destroy();
  times.sort((left, right) => left - right);
  const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(1);
  console.log(
    `${name.padEnd(7)} ${times.length} x /ready: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ` +
      `max ${(times.at(-1) ?? 0).toFixed(1)} ms; ${pages} large pages`,
  );
}

function ask(
  port: number,
  path: string,
  agent?: Agent,
): Promise<{ readonly isOk: boolean; readonly ms: number }> {
  const begun = performance.now();
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path, ...(agent === undefined ? {} : { agent }) };
    const outgoing = request(options, (answer) => {
      answer.resume();
      answer.once('end', () => {
        resolve({ isOk: answer.statusCode === 200, ms: performance.now() - begun });
      });
    });
    outgoing.once('error', () => resolve({ isOk: false, ms: performance.now() - begun }));
    outgoing.end();
  });
}
