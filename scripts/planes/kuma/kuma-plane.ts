/**
 * Kuma's control plane with its memory as store, and its data planes: `kuma-dp` starts the proxy
 * that is tried. Later releases than 1.8 do not stand in the module proxy by their version.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../test/support/free-port.ts';
import { fetchOnce } from '../../../test/support/peers/http-client.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { programFolder } from '../../programs/go-programs.ts';
import { check, runProgram } from '../../programs/trial.ts';
import { startService } from '../../services/real-service.ts';
import { type DataPlane, proxyCommand } from '../data-plane.ts';

const MODULE = 'github.com/kumahq/kuma';
const VERSION = 'v1.8.1';
/** The release of Envoy that it was made for; another one makes it warn. */
const ENVOY = '1.22.2';
/** Its own copy of a part of this module is not in the module that the proxy has. */
const PROMETHEUS = 'github.com/prometheus/prometheus';
const PROMETHEUS_VERSION = 'v0.38.0';
const BUILD_LIMIT_MS = 1_800_000;
const START_LIMIT_MS = 90_000;

export interface KumaPlane extends AsyncDisposable {
  /** Writes a resource of the mesh `default`, or the mesh itself where the path is empty. */
  put(path: string, resource: object): Promise<void>;
  remove(path: string): Promise<void>;
  get(path: string): Promise<string>;
  /** Starts a data plane for what its object says. */
  start(proxy: DataPlane, name: string, networking: object): Promise<KumaProxy>;
}

export interface KumaProxy extends AsyncDisposable {
  readonly name: string;
  stats(filter: string): Promise<string>;
  output(): string;
}

export async function startKuma(): Promise<KumaPlane> {
  const programs = await builtKuma();
  const scratch = makeScratch();
  const [api, secureApi, data] = [await freePort(), await freePort(), await freePort()];
  const ports = { API_SERVER_HTTP: api, API_SERVER_HTTPS: secureApi, DP_SERVER: data };
  const others = ['DIAGNOSTICS_SERVER', 'MONITORING_ASSIGNMENT_SERVER'];
  const env: Record<string, string> = {
    KUMA_MODE: 'standalone',
    KUMA_ENVIRONMENT: 'universal',
    KUMA_STORE_TYPE: 'memory',
    KUMA_GENERAL_WORK_DIR: scratch.path,
    KUMA_DP_SERVER_AUTH_TYPE: 'none',
    KUMA_DP_SERVER_HDS_INTERVAL: '1s',
    KUMA_DP_SERVER_HDS_CHECK_INTERVAL: '500ms',
    KUMA_DP_SERVER_HDS_CHECK_NO_TRAFFIC_INTERVAL: '500ms',
    KUMA_EXPERIMENTAL_MESHGATEWAY: 'true',
  };
  for (const [name, port] of Object.entries(ports)) env[`KUMA_${name}_PORT`] = String(port);
  for (const name of others) env[`KUMA_${name}_PORT`] = String(await freePort());
  const command = join(programs, 'kuma-cp');
  const args = ['run', '--log-level', 'off'];
  const service = await startService({ command, args, env, ports: [api, data] });
  const ask = (method: string, path: string, body?: object): ReturnType<typeof fetchOnce> =>
    fetchOnce({
      port: api,
      method,
      path: `/meshes/default${path}`,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const isReady = async (): Promise<boolean> =>
    (await ask('GET', '').catch(() => ({ status: 0 }))).status === 200;
  await waitUntil('the mesh', isReady, START_LIMIT_MS);
  return {
    put: async (path, resource) => {
      const { status, body } = await ask('PUT', path, { mesh: 'default', ...resource });
      check(status < 300, `${path}: ${status} ${body}`);
    },
    remove: async (path) => {
      const { status, body } = await ask('DELETE', path);
      check(status < 300, `${path}: ${status} ${body}`);
    },
    get: async (path) => (await ask('GET', path)).body,
    start: (proxy, name, networking) =>
      startProxy(proxy, { name, networking, data, program: join(programs, 'kuma-dp') }),
    [Symbol.asyncDispose]: async () => {
      await service.kill();
      scratch[Symbol.dispose]();
    },
  };
}

interface ProxyStart {
  readonly name: string;
  readonly networking: object;
  /** Where data planes ask. */
  readonly data: number;
  readonly program: string;
}

async function startProxy(
  proxy: DataPlane,
  { name, networking, data, program }: ProxyStart,
): Promise<KumaProxy> {
  const scratch = makeScratch();
  const admin = await freePort();
  const object = { type: 'Dataplane', mesh: 'default', name };
  const whole = { ...object, networking: { ...networking, admin: { port: admin } } };
  writeFileSync(scratch.file('dataplane.json'), JSON.stringify(whole));
  const script = scratch.file('envoy');
  const main = proxyCommand(proxy).replace('restarter-main.js', 'main.js');
  writeFileSync(script, `#!/bin/sh\nexec ${main} "$@"\n`);
  chmodSync(script, 0o755);
  const args = ['run', '--dns-enabled=false', '--concurrency=1', '--drain-time=1s'];
  const service = await startService({
    command: program,
    args: [
      ...args,
      `--cp-address=https://localhost:${data}`,
      `--dataplane-file=${scratch.file('dataplane.json')}`,
      `--binary-path=${script}`,
      `--config-dir=${scratch.path}`,
    ],
    ports: [admin],
  });
  const ask = async (path: string): Promise<string> =>
    (await fetchOnce({ port: admin, path }).catch(() => ({ body: '' }))).body;
  const isLive = async (): Promise<boolean> => (await ask('/ready')).startsWith('LIVE');
  await waitUntil(`the data plane of ${name}`, isLive, START_LIMIT_MS);
  return {
    name,
    stats: (filter) => ask(`/stats?usedonly&filter=${encodeURIComponent(filter)}`),
    output: () => service.output(),
    [Symbol.asyncDispose]: async () => {
      await service.kill('SIGTERM');
      scratch[Symbol.dispose]();
    },
  };
}

/** The folder of its programs. It is built in a copy of its module, for what that replaces. */
async function builtKuma(): Promise<string> {
  const folder = programFolder(`kuma-${VERSION}`);
  if (existsSync(join(folder, 'kumactl'))) return folder;
  const source = join(folder, 'source');
  mkdirSync(source, { recursive: true });
  const text = await runProgram('go', ['mod', 'download', '-json', `${MODULE}@${VERSION}`]);
  const { Dir } = JSON.parse(text) as { readonly Dir: string };
  cpSync(Dir, source, { recursive: true });
  await runProgram('chmod', ['-R', 'u+w', source]);
  const options = { cwd: source, env: process.env, limitMs: BUILD_LIMIT_MS };
  const required = `${PROMETHEUS}@${PROMETHEUS_VERSION}`;
  await runProgram(
    'go',
    ['mod', 'edit', `-dropreplace=${PROMETHEUS}`, `-require=${required}`],
    options,
  );
  const variables = Object.entries({ version: VERSION.slice(1), Envoy: ENVOY });
  const set = variables.map(([name, value]) => `-X ${MODULE}/pkg/version.${name}=${value}`);
  const version = `-ldflags=${set.join(' ')}`;
  const programs = ['./app/kuma-cp', './app/kuma-dp', './app/kumactl'];
  const flags = ['-p', '1', '-mod=mod', '-buildvcs=false', version, '-o', `${folder}/`];
  await runProgram('go', ['build', ...flags, ...programs], options);
  return folder;
}
