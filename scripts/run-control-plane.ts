/**
 * Drives the real server with go-control-plane's own server, caches and snapshots: aggregated, by
 * type, incremental, muxed and REST, with and without TLS. Each snapshot has to be served on every
 * listener. Left out with a word when Go is missing. Not part of `npm test`, since it needs the
 * network: node dist/scripts/run-control-plane.js
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { staticCluster } from '../test/support/parts/bootstrap.ts';
import { freePort } from '../test/support/programs/epochs.ts';
import { makeScratch } from '../test/support/scratch.ts';
import { ADMIN, startSluice } from '../test/support/programs/sluice.ts';
import { startHttpUpstream } from '../test/support/peers/upstream.ts';
import { waitUntil, within } from '../test/support/wait.ts';

const SOURCE = join(import.meta.dirname, '../../test/clients/go-control-plane-server');
const BUILD_LIMIT_MS = 600_000;
const VERSIONS = ['v0', 'v1', 'v2'];
const LISTENERS = 4;
const ANSWER = 'answer of the upstream';

interface Scenario {
  readonly mode: 'ads' | 'delta-ads' | 'xds' | 'delta' | 'rest';
  readonly flags: readonly string[];
}

const SCENARIOS: readonly Scenario[] = [
  { mode: 'ads', flags: [] },
  { mode: 'ads', flags: ['-mux'] },
  { mode: 'ads', flags: ['-tls'] },
  { mode: 'delta-ads', flags: [] },
  { mode: 'delta-ads', flags: ['-mux'] },
  { mode: 'delta-ads', flags: ['-tls'] },
  { mode: 'xds', flags: [] },
  { mode: 'xds', flags: ['-tls'] },
  { mode: 'delta', flags: [] },
  { mode: 'delta', flags: ['-tls'] },
  { mode: 'rest', flags: [] },
  { mode: 'rest', flags: ['-tls'] },
];

interface Ports {
  readonly port: number;
  readonly gateway: number;
  readonly base: number;
}

await run();

async function run(): Promise<void> {
  if (spawnSync('go', ['version']).status !== 0)
    return console.log('left out: go is not installed');
  using scratch = makeScratch();
  const program = scratch.file('server');
  const build = spawnSync('go', ['build', '-o', program, '.'], {
    cwd: SOURCE,
    encoding: 'utf8',
    timeout: BUILD_LIMIT_MS,
  });
  if (build.status !== 0) return console.log(`left out: ${build.stderr}`);
  for (const scenario of SCENARIOS) {
    const name = [scenario.mode, ...scenario.flags].join(' ');
    try {
      await play(program, scenario);
      console.log(`passed ${name}`);
    } catch (error) {
      console.log(`failed ${name}: ${String(error)}`);
      process.exitCode = 1;
    }
  }
}

async function play(program: string, { mode, flags }: Scenario): Promise<void> {
  await using upstream = await startHttpUpstream((_, response) => response.end(ANSWER));
  const ports = { port: await freePort(), gateway: await freePort(), base: await freePort() };
  const args = ['-xds', mode, ...flags, '-upstream', String(upstream.port)];
  for (const [flag, value] of Object.entries(ports)) args.push(`-${flag}`, String(value));
  const server = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  try {
    const set = commander(server);
    await set('v0');
    await using sluice = await startSluice({ bootstrap: bootstrapOf(mode, ports) });
    for (const version of VERSIONS) {
      await set(version);
      await waitUntil(`${version} on every listener`, async () => {
        return await areServed(ports.base, flags.includes('-tls'));
      });
      await waitUntil(`${version} taken`, async () => {
        return (await sluice.admin('/stats?filter=lds.version_text')).body.includes(version);
      });
    }
    const { body } = await sluice.admin('/stats?filter=update_rejected');
    const refused = body.split('\n').filter((line) => /: [1-9]/.test(line));
    if (refused.length > 0) throw new Error(refused.join(' '));
  } finally {
    const ended = server.exitCode === null ? once(server, 'exit') : undefined;
    server.kill('SIGKILL');
    await ended;
  }
}

/** Sends a version and resolves when it is said to be set. */
function commander(server: ChildProcess): (version: string) => Promise<void> {
  if (server.stdout === null) throw new Error('the server has no output');
  const lines = createInterface(server.stdout);
  return async (version) => {
    const answered = once(lines, 'line');
    server.stdin?.write(`${version}\n`);
    await within(`the server sets ${version}`, answered);
  };
}

async function areServed(base: number, isSecure: boolean): Promise<boolean> {
  const ports = Array.from({ length: LISTENERS }, (_, index) => base + index);
  const answers = await Promise.all(ports.map((port) => ask(port, isSecure)));
  return answers.every((answer) => answer === ANSWER);
}

/** Undefined when there is no answer. */
function ask(port: number, isSecure: boolean): Promise<string | undefined> {
  const client = isSecure ? https : http;
  return new Promise((resolve) => {
    const request = client.get(
      { host: '127.0.0.1', port, agent: false, rejectUnauthorized: false },
      (response) => {
        let text = '';
        response.on('data', (piece: Buffer) => (text += piece.toString()));
        response.on('end', () => resolve(text));
      },
    );
    request.on('error', () => resolve(undefined));
  });
}

function bootstrapOf(mode: Scenario['mode'], { port, gateway }: Ports): object {
  const isRest = mode === 'rest';
  const isAggregated = mode.endsWith('ads');
  const api = {
    transport_api_version: 'V3',
    ...(isRest
      ? { api_type: 'REST', cluster_names: ['xds_cluster'], refresh_delay: '0.2s' }
      : {
          api_type: mode.startsWith('delta') ? 'DELTA_GRPC' : 'GRPC',
          grpc_services: [{ envoy_grpc: { cluster_name: 'xds_cluster' } }],
          set_node_on_first_message_only: true,
        }),
  };
  const source = {
    resource_api_version: 'V3',
    ...(isAggregated ? { ads: {} } : { api_config_source: api }),
  };
  const http2 = isRest ? {} : { http2_protocol_options: {} };
  return {
    node: { id: 'test-id', cluster: 'test-cluster' },
    admin: ADMIN,
    static_resources: {
      clusters: [staticCluster('xds_cluster', [isRest ? gateway : port], http2)],
    },
    layered_runtime: {
      layers: [{ name: 'runtime-0', rtds_layer: { name: 'runtime-0', rtds_config: source } }],
    },
    dynamic_resources: {
      cds_config: source,
      lds_config: source,
      ...(isAggregated ? { ads_config: api } : {}),
    },
  };
}
