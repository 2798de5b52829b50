/** Servers with ten thousand clusters: their bootstrap, their start to LIVE, what they use. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { benchBootstrap } from '../support/bootstrap.ts';
import type { Place } from '../support/contenders.ts';
import { treePssKib } from '../support/processes.ts';

/** Clock ticks per second of /proc. */
const TICKS = 100;
const START_LIMIT_MS = 120_000;

export interface Program {
  readonly name: 'envoy' | 'sluice';
  readonly command: readonly string[];
  readonly concurrency: number;
}

export interface BigServer {
  readonly pid: number;
  readonly adminPort: number;
  /** From exec to LIVE. */
  readonly liveMs: number;
  readonly workers: readonly number[];
  pssMib(): number;
  stop(): Promise<void>;
}

/** The benchmark's listener and upstream, and this many further clusters, as YAML. */
export function writeBigBootstrap(place: Place, clusters: number, extra: object = {}): string {
  const { admin, static_resources: resources } = benchBootstrap(place) as {
    readonly admin: object;
    readonly static_resources: { readonly listeners: object; readonly clusters: readonly object[] };
  };
  const lines = [
    `admin: ${JSON.stringify(admin)}`,
    ...Object.entries(extra).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    'static_resources:',
    `  listeners: ${JSON.stringify(resources.listeners)}`,
    '  clusters:',
    ...resources.clusters.map((cluster) => `  - ${JSON.stringify(cluster)}`),
  ];
  for (let index = 0; index < clusters; index++) {
    lines.push(
      `  - name: service_${index}`,
      '    type: STATIC',
      '    connect_timeout: 1s',
      '    load_assignment:',
      `      cluster_name: service_${index}`,
      '      endpoints:',
      '      - lb_endpoints:',
      '        - endpoint: {address: {socket_address: ' +
        `{address: 127.0.0.1, port_value: ${10_000 + (index % 20_000)}}}}`,
    );
  }
  const path = join(place.folder, `big-${clusters}-${Object.keys(extra).length}.yaml`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

export async function startBigServer(
  { command, concurrency }: Program,
  config: string,
): Promise<BigServer> {
  const addressPath = `${config}.admin`;
  rmSync(addressPath, { force: true });
  const [file = '', ...args] = command;
  const begun = performance.now();
  const child = spawn(
    file,
    [
      ...args,
      '-c',
      config,
      '--disable-hot-restart',
      '--concurrency',
      String(concurrency),
      '-l',
      'critical',
      '--admin-address-path',
      addressPath,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const pid = child.pid ?? 0;
  let adminPort: number | undefined;
  while (adminPort === undefined) {
    if (performance.now() - begun > START_LIMIT_MS) throw new Error(`${file} is not LIVE in time`);
    adminPort = await livePort(addressPath);
    if (adminPort === undefined) await delay(5);
  }
  return {
    pid,
    adminPort,
    liveMs: performance.now() - begun,
    workers: childrenOf(pid),
    pssMib: () => treePssKib(pid) / 1024,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function livePort(addressPath: string): Promise<number | undefined> {
  if (!existsSync(addressPath)) return undefined;
  const port = Number(readFileSync(addressPath, 'utf8').trim().split(':').at(-1));
  if (!(port > 0)) return undefined;
  const text = await fetchText(port, '/ready').catch(() => '');
  return text.startsWith('LIVE') ? port : undefined;
}

/** Seconds of processor time of one process so far. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

export function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
}

export function fetchText(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
      .split(' ')
      .filter((word) => word !== '')
      .map(Number),
  );
}
