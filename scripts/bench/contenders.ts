/** Who is compared: how each proxy is started on one core in front of the same upstream. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CertificateFiles } from './certificates.ts';
import { isInstalled, PROXY_CORE, startPinned, waitForPort, type Running } from './processes.ts';

export interface Contender {
  readonly name: string;
  readonly kind: 'sluice' | 'reference' | 'server' | 'npm';
  /** What is missing when it cannot run here. */
  readonly missing?: string;
  start(place: Place): Promise<Running>;
}

export interface Place {
  /** Scratch folder for configuration files. */
  readonly folder: string;
  readonly port: number;
  readonly upstreamPort: number;
  /** Of the listener; absent: plain bytes. */
  readonly certificate?: CertificateFiles;
}

const DIST = join(import.meta.dirname, '..', '..');
const MAIN = join(DIST, 'src', 'main.js');
const COMPETITORS = join(DIST, '..', 'scripts', 'bench', 'competitors');

export function allContenders(): readonly Contender[] {
  return [
    {
      name: 'sluice',
      kind: 'sluice',
      start: (place) => startOn(place, [process.execPath, MAIN, ...proxyArguments(place)]),
    },
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

/** The same bootstrap for Sluice and for the reference: all statistics on, no access log. */
export function benchBootstrap(place: Place): object {
  const type = 'type.googleapis.com/envoy.extensions.filters';
  const address = (port: number): object => ({
    socket_address: { address: '127.0.0.1', port_value: port },
  });
  return {
    admin: { address: address(0) },
    static_resources: {
      listeners: [
        {
          name: 'bench',
          address: address(place.port),
          filter_chains: [
            {
              filters: [
                {
                  name: 'envoy.filters.network.http_connection_manager',
                  typed_config: {
                    '@type': `${type}.network.http_connection_manager.v3.HttpConnectionManager`,
                    stat_prefix: 'bench',
                    route_config: {
                      virtual_hosts: [
                        {
                          name: 'all',
                          domains: ['*'],
                          routes: [{ match: { prefix: '/' }, route: { cluster: 'up' } }],
                        },
                      ],
                    },
                    http_filters: [
                      {
                        name: 'envoy.filters.http.router',
                        typed_config: { '@type': `${type}.http.router.v3.Router` },
                      },
                    ],
                  },
                },
              ],
              ...transportSocket(place),
            },
          ],
        },
      ],
      clusters: [
        {
          name: 'up',
          connect_timeout: '1s',
          circuit_breakers: {
            thresholds: [
              { max_connections: 20000, max_pending_requests: 20000, max_requests: 20000 },
            ],
          },
          load_assignment: {
            cluster_name: 'up',
            endpoints: [{ lb_endpoints: [{ endpoint: { address: address(place.upstreamPort) } }] }],
          },
        },
      ],
    },
  };
}

function transportSocket({ certificate }: Place): object {
  if (certificate === undefined) return {};
  const type = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';
  const pair = {
    certificate_chain: { filename: certificate.chain },
    private_key: { filename: certificate.key },
  };
  const config = { '@type': type, common_tls_context: { tls_certificates: [pair] } };
  return { transport_socket: { name: 'envoy.transport_sockets.tls', typed_config: config } };
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
