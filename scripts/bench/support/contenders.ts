/** Who is compared: how each proxy is started on one core in front of the same upstream. */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchBootstrap, type BootstrapParts } from './bootstrap.ts';
import { isInstalled, PROXY_CORE, startPinned, waitForPort, type Running } from './processes.ts';

export interface Contender {
  readonly name: string;
  readonly kind: 'sluice' | 'reference' | 'server' | 'npm';
  /** What is missing when it cannot run here. */
  readonly missing?: string;
  start(place: Place): Promise<Running>;
}

export interface Place extends BootstrapParts {
  /** Scratch folder for configuration files. */
  readonly folder: string;
  /** For Sluice. */
  readonly nodeArguments?: readonly string[];
}

const DIST = join(import.meta.dirname, '..', '..', '..');
const MAIN = join(DIST, 'src', 'main.js');
const COMPETITORS = join(DIST, '..', 'scripts', 'bench', 'competitors');

/** `runtimes`: paths of other Node.js binaries, each of which runs Sluice as well. */
export function allContenders(runtimes: readonly string[] = []): readonly Contender[] {
  return [
    sluiceOn('sluice', process.execPath),
    ...runtimes.map((path) => {
      const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim();
      return sluiceOn(`sluice on ${version}`, path);
    }),
    withProgram('envoy', {
      name: 'envoy',
      kind: 'reference',
      start: (place) => startOn(place, ['envoy', ...proxyArguments(place)]),
    }),
    withProgram('nginx', { name: 'nginx', kind: 'server', start: startNginx }),
    withProgram('haproxy', { name: 'haproxy', kind: 'server', start: startHaproxy }),
    npmProxy('http-proxy-3', 'http-proxy-3'),
    npmProxy('httpxy', 'httpxy'),
    npmProxy('fast-proxy', 'fast-proxy'),
    npmProxy('fastify-http-proxy', '@fastify/http-proxy'),
  ];
}

function sluiceOn(name: string, runtime: string): Contender {
  return {
    name,
    kind: 'sluice',
    start: (place) => {
      const node = [runtime, ...(place.nodeArguments ?? [])];
      return startOn(place, [...node, MAIN, ...proxyArguments(place)]);
    },
  };
}

function proxyArguments(place: Place): string[] {
  const path = join(place.folder, `bootstrap-${place.port}.json`);
  writeFileSync(path, JSON.stringify(benchBootstrap(place)));
  return ['-c', path, '--disable-hot-restart', '--concurrency', '1', '-l', 'error'];
}

async function startOn(place: Place, command: readonly string[]): Promise<Running> {
  const running = startPinned(PROXY_CORE, command);
  await waitForPort(place.port);
  return running;
}

function withProgram(program: string, contender: Contender): Contender {
  return isInstalled(program) ? contender : { ...contender, missing: `${program} is not on PATH` };
}

function npmProxy(script: string, packageName: string): Contender {
  const contender: Contender = {
    name: packageName,
    kind: 'npm',
    start: (place) =>
      startOn(place, [
        process.execPath,
        join(COMPETITORS, `${script}.js`),
        String(place.port),
        String(place.upstreamPort),
      ]),
  };
  return existsSync(join(COMPETITORS, 'node_modules', packageName))
    ? contender
    : { ...contender, missing: 'run npm ci in scripts/bench/competitors' };
}

function startNginx(place: Place): Promise<Running> {
  const { folder, port, upstreamPort } = place;
  const config = join(folder, `nginx-${port}.conf`);
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${folder}/nginx-${port}.pid; error_log ${folder}/nginx.log error;
events { worker_connections 16384; }
http {
  access_log off; keepalive_requests 100000000;
  client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream up { server 127.0.0.1:${upstreamPort}; keepalive 128; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096; client_max_body_size 0;
    location / { proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`,
  );
  return startOn(place, ['nginx', '-c', config, '-p', folder]);
}

function startHaproxy(place: Place): Promise<Running> {
  const config = join(place.folder, `haproxy-${place.port}.cfg`);
  writeFileSync(
    config,
    `global
  nbthread 1
  maxconn 8000
defaults
  mode http
  http-reuse always
  timeout connect 1s
  timeout client 60s
  timeout server 60s
frontend web
  bind 127.0.0.1:${place.port} backlog 4096
  default_backend up
backend up
  server one 127.0.0.1:${place.upstreamPort} pool-max-conn 256
`,
  );
  return startOn(place, ['haproxy', '-db', '-f', config]);
}
