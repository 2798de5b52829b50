/**
 * A server with many clusters by CDS and EDS over one incremental stream, for the benchmarks that
 * change them.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { adsBootstrap } from '../../../test/support/peers/ads-bootstrap.ts';
import { httpListener } from '../../../test/support/parts/bootstrap.ts';
import { startControlPlane, type ControlPlane } from '../../../test/support/peers/control-plane.ts';
import { resource } from '../../../test/support/peers/discovery-files.ts';
import { makeScratch, type Scratch } from '../../../test/support/scratch.ts';
import { MAIN } from '../../../test/support/programs/sluice.ts';
import { waitUntil } from '../../../test/support/wait.ts';

const LIMIT_MS = 180_000;
export const ENDPOINTS = 'endpoint.v3.ClusterLoadAssignment';
export const LISTENER = 'listener.v3.Listener';
export const ADS = { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '0s' };

export interface Program {
  readonly name: string;
  readonly command: readonly string[];
}

export interface Fleet {
  readonly control: ControlPlane;
  readonly admin: string;
  readonly pid: number;
  /** From the start of the process to LIVE. */
  readonly liveMs: number;
  readonly scratch: Scratch;
  [Symbol.asyncDispose](): Promise<void>;
}

/** This server, and Envoy where it is installed. `flags` are for Node.js. */
export function programs(flags: readonly string[] = []): readonly Program[] {
  const own = { name: 'sluice', command: [process.execPath, ...flags, MAIN] };
  const isThere = spawnSync('envoy', ['--version']).status === 0;
  return isThere ? [own, { name: 'envoy', command: ['envoy'] }] : [own];
}

export interface FleetOptions {
  readonly concurrency?: number;
  /** 1 without it. */
  readonly drainTimeS?: string;
  /** What the control plane has before the server starts, instead of one plain listener. */
  readonly prepare?: (control: ControlPlane, scratch: Scratch) => void;
  /** Fields of the bootstrap beside or instead of its own. */
  readonly fields?: (scratch: Scratch) => object;
}

/** Resolves when the server is LIVE. Clusters are `service_<n>`, each with one endpoint. */
export async function startFleet(
  { command: [program = '', ...words] }: Program,
  clusters: number,
  { concurrency = 1, drainTimeS = '1', prepare, fields }: FleetOptions = {},
): Promise<Fleet> {
  const scratch = makeScratch();
  const control = await startControlPlane();
  const names = Array.from({ length: clusters }, (_, index) => `service_${index}`);
  control.set('cluster.v3.Cluster', '1', names.map(clusterOf));
  control.set(
    ENDPOINTS,
    '1',
    names.map((each) => resource.endpoints(each, [10_000])),
  );
  control.set(LISTENER, '1', [listenerSaying('first')]);
  prepare?.(control, scratch);
  const config = scratch.file('bootstrap.json');
  const addressPath = scratch.file('admin');
  const ads = { apiType: 'DELTA_GRPC', hasCds: true, nodeOnFirstMessageOnly: true } as const;
  const bootstrap = adsBootstrap(control.port, { ...ads, source: ADS });
  writeFileSync(config, JSON.stringify({ ...bootstrap, ...fields?.(scratch) }));
  const options = ['-c', config, '--disable-hot-restart', '--concurrency', String(concurrency)];
  const own = ['--admin-address-path', addressPath, '--drain-time-s', drainTimeS, '-l', 'off'];
  const startedMs = performance.now();
  const server = spawn(program, [...words, ...options, ...own], { stdio: 'ignore' });
  const closed = once(server, 'close');
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM');
    await closed;
    await control[Symbol.asyncDispose]();
    scratch[Symbol.dispose]();
  };
  try {
    const admin = await waitUntil('the admin', () => addressIn(addressPath), LIMIT_MS);
    await waitUntil('LIVE', async () => (await read(admin, '/ready')) === 'LIVE\n', LIMIT_MS);
    const liveMs = performance.now() - startedMs;
    const pid = server.pid ?? 0;
    return { control, admin, pid, liveMs, scratch, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export function listenerSaying(text: string): object {
  const action = { direct_response: { status: 200, body: { inline_string: text } } };
  return resource.listener(httpListener([{ match: { prefix: '/' }, ...action }]));
}

/** The port of the one listener. */
export async function listenerPort(admin: string): Promise<number | undefined> {
  const port = /:(\d+)\s*$/.exec(await read(admin, '/listeners'))?.[1];
  return port === undefined ? undefined : Number(port);
}

/** Resolves when the control plane has one request more. */
export async function acknowledged(control: ControlPlane, send: () => void): Promise<void> {
  const before = control.requests.length;
  send();
  const startedMs = performance.now();
  while (control.requests.length === before && performance.now() - startedMs < LIMIT_MS) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Resolves when no listener and no chain drains. */
export async function drained(admin: string): Promise<void> {
  await waitUntil('the drains', async () => {
    const lines = (await read(admin, '/stats?filter=_draining')).split('\n');
    return lines.length > 1 && lines.every((line) => !/: [1-9]/.test(line));
  });
}

/** An admin page; empty when nobody answers. */
async function read(admin: string, path: string): Promise<string> {
  try {
    return await (await fetch(`http://${admin}${path}`)).text();
  } catch {
    return '';
  }
}

function clusterOf(name: string): object {
  const eds = { eds_cluster_config: { eds_config: ADS } };
  return resource.cluster({ name, type: 'EDS', connect_timeout: '1s', ...eds });
}

function addressIn(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return text === '' ? undefined : text;
  } catch {
    return undefined;
  }
}
