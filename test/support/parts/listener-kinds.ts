/**
 * One server with a listener of each kind (plain TCP, unix socket, TLS, TCP proxy), the upstream
 * that the TCP proxy needs, and the targets for clients.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { bootstrap, httpListener, staticCluster } from './bootstrap.ts';
import { makeAuthority } from './certificates.ts';
import { loopback } from '../programs/epochs.ts';
import type { LoadTarget } from '../peers/load.ts';
import { filterListener, tcpProxyFilter } from './tcp-listener.ts';

/** A TCP proxy's client cannot be told to go, so the upstream closes connections of this age. */
const TCP_CONNECTION_AGE_MS = 300;

export interface ListenerKinds {
  readonly bootstrap: object;
  readonly targets: readonly LoadTarget[];
  /** Connections that the upstream behind the TCP proxy has accepted. */
  readonly upstreamConnections: () => number;
  readonly close: () => void;
}

export interface KindsSetup {
  /** For certificates and the unix socket. */
  readonly folder: string;
  /** Plain, TLS and TCP proxy. */
  readonly ports: readonly [number, number, number];
  readonly adminPort: number;
  /** One more plain listener, whose workers share one socket: without reuse_port. */
  readonly sharedPort?: number;
}

export async function makeListenerKinds(setup: KindsSetup): Promise<ListenerKinds> {
  const { folder, ports, adminPort, sharedPort } = setup;
  const [plain, secure, tcp] = ports;
  const upstream = await startUpstream();
  const unixPath = `${folder}/web.sock`;
  const { certPath, keyPath } = makeAuthority(folder).issue('server', 'DNS:kinds.test');
  return {
    bootstrap: bootstrap(
      {
        listeners: [
          answering('web', loopback(plain)),
          answering('unix', { pipe: { path: unixPath } }),
          withTls(answering('tls', loopback(secure)), certPath, keyPath),
          filterListener([tcpProxyFilter()], { address: loopback(tcp) }),
          ...(sharedPort === undefined ? [] : [sharing(sharedPort)]),
        ],
        clusters: [staticCluster('up', [upstream.port])],
      },
      { admin: { address: loopback(adminPort) } },
    ),
    targets: [
      { port: plain },
      { socketPath: unixPath },
      { port: secure, isTls: true },
      { port: tcp },
      ...(sharedPort === undefined ? [] : [{ port: sharedPort }]),
    ],
    upstreamConnections: upstream.connections,
    close: upstream.close,
  };
}

/** The statistics that together count every HTTP request. */
export const HTTP_KINDS = ['web', 'unix', 'tls'].map((name) => `http.${name}.downstream_rq_total`);

function answering(name: string, address: object): Listener {
  const ok = { status: 200, body: { inline_string: 'ok' } };
  return httpListener([{ match: { prefix: '/' }, direct_response: ok }], {
    name,
    statPrefix: name,
    listener: { address },
  }) as Listener;
}

function sharing(port: number): object {
  return { ...answering('shared', loopback(port)), enable_reuse_port: { value: false } };
}

interface Listener {
  readonly filter_chains: readonly object[];
}

function withTls(listener: Listener, certPath: string, keyPath: string): object {
  const certificate = {
    certificate_chain: { filename: certPath },
    private_key: { filename: keyPath },
  };
  const socket = {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
      common_tls_context: { tls_certificates: [certificate] },
    },
  };
  const chains = listener.filter_chains.map((chain) => ({ ...chain, transport_socket: socket }));
  return { ...listener, filter_chains: chains };
}

interface Upstream {
  readonly port: number;
  readonly connections: () => number;
  readonly close: () => void;
}

async function startUpstream(): Promise<Upstream> {
  let connections = 0;
  const acceptedAt = new WeakMap<object, number>();
  const server = createServer((request, response) => {
    const age = performance.now() - (acceptedAt.get(request.socket) ?? 0);
    if (age > TCP_CONNECTION_AGE_MS) response.setHeader('connection', 'close');
    response.end('ok');
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => {
    connections += 1;
    acceptedAt.set(socket, performance.now());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    connections: () => connections,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
