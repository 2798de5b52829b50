/** What the examples promise that are about connections: TLS, WebSockets, databases, datagrams. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import { makeAuthority, type TestAuthority } from '../parts/certificates.ts';
import { startHttp2Upstream } from '../peers/http2.ts';
import { openRaw } from '../peers/raw-client.ts';
import { openDatagramClient, startDatagramHost } from '../peers/services/datagrams.ts';
import { answerCall, framed, startGrpcPeer } from '../peers/services/grpc-peer.ts';
import { startHttpUpstream, startRawUpstream } from '../peers/upstream.ts';
import { respCommand, startRedisServer } from '../redis/server.ts';
import { makeScratch } from '../scratch.ts';
import { waitUntil } from '../wait.ts';
import { EXAMPLES, fetchSecurely, startEcho, startExample, type AskExample } from './stage.ts';

interface SecureEcho extends AsyncDisposable {
  readonly port: number;
}

/** Answers over TLS with its name and the headers that it saw; WebSockets are greeted. */
async function startSecureEcho(name: string, { cert, key }: TestAuthority): Promise<SecureEcho> {
  const server = createServer({ cert, key }, ({ headers }, response) => {
    response.end(JSON.stringify({ hostname: name, headers }));
  });
  server.on('upgrade', (_request, socket) => greet(socket as Socket, '[wss] HELO'));
  return await listening(server);
}

async function listening(server: Server): Promise<SecureEcho> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Says yes to an upgrade and then a line, as the examples' host does in a frame. */
function greet(socket: Socket, text: string): void {
  socket.on('error', () => socket.destroy());
  socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n');
  socket.write(`\r\n\x81${String.fromCharCode(text.length)}${text}`, 'latin1');
}

/** Opens a WebSocket and resolves with what the host says when it has said all of it. */
async function openWebSocket(port: number, path: string, isSecure: boolean): Promise<string> {
  const address = { port, host: '127.0.0.1', rejectUnauthorized: false };
  const socket = isSecure ? tls.connect(address) : connect(address);
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: h\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  );
  let text = '';
  for await (const piece of socket.setEncoding('latin1')) {
    text += String(piece);
    if (text.endsWith('HELO') || text.includes('NotWebSocket')) break;
  }
  socket.destroy();
  return text;
}

const UPGRADED = /^HTTP\/1\.1 101 [\s\S]*HELO$/;

interface TlsExample {
  readonly file: string;
  readonly isSecure: boolean;
  /** Who answers, and what it hears of the client's scheme. */
  readonly sees: readonly [hostname: string, scheme: string | undefined];
}

const TLS: readonly TlsExample[] = [
  { file: 'https-http', isSecure: true, sees: ['service-http', 'https'] },
  { file: 'https-https', isSecure: true, sees: ['service-https', 'https'] },
  { file: 'http-https', isSecure: false, sees: ['service-https', 'http'] },
  { file: 'https-passthrough', isSecure: true, sees: ['service-https', undefined] },
];

export const CONNECTIONS: Readonly<Record<string, AskExample>> = {
  tls: async () => {
    using scratch = makeScratch();
    await using plain = await startEcho('service-http');
    await using secure = await startSecureEcho('service-https', makeAuthority(scratch.path));
    const hosts = { 'service-http:80': plain.port, 'service-https:443': secure.port };
    for (const { file, isSecure, sees } of TLS) {
      await using example = await startExample(`tls/envoy-${file}.yaml`, { hosts });
      const { body } = await (isSecure ? example.askSecurely(0, '/') : example.ask(0, '/'));
      const { hostname, headers } = JSON.parse(body) as {
        readonly hostname: string;
        readonly headers: NodeJS.Dict<string>;
      };
      assert.deepEqual([hostname, headers['x-forwarded-proto']], sees, file);
    }
  },
  'tls-sni': async () => {
    using scratch = makeScratch();
    await using first = await startEcho('service-http0');
    await using second = await startEcho('service-http1');
    await using third = await startSecureEcho('service-https', makeAuthority(scratch.path));
    const names = ['domain1', 'domain2'].flatMap((each) => [`${each}.crt.pem`, `${each}.key.pem`]);
    const paths = names.map((each) => [`certs/${each}`, join(EXAMPLES, 'tls-sni', 'certs', each)]);
    await using proxy = await startExample('tls-sni/envoy.yaml', {
      hosts: {
        'service-http0:80': first.port,
        'service-http1:80': second.port,
        'service-https:443': third.port,
      },
      values: Object.fromEntries(paths) as Record<string, string>,
    });
    const port = await proxy.port(0);
    await using client = await startExample('tls-sni/envoy-client.yaml', {
      hosts: { 'proxy:10000': port },
    });
    for (const [at, host] of ['service-http0', 'service-http1', 'service-https'].entries()) {
      const name = `domain${at + 1}`;
      const asked = await fetchSecurely(port, '/', {}, `${name}.example.com`);
      assert.match(asked.body, new RegExp(`"hostname":"${host}"`));
      assert.match((await client.ask(0, `/${name}`)).body, new RegExp(`"hostname":"${host}"`));
    }
  },
  'tls-inspector': async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    await using http2 = await startHttp2Upstream(
      (stream) => {
        stream.respond({ ':status': 200 });
        stream.end('service-https1');
      },
      { tls: authority },
    );
    await using secure = await startSecureEcho('service-https0', authority);
    await using plain = await startEcho('service-http');
    await using example = await startExample('tls-inspector/envoy.yaml', {
      hosts: {
        'service-https1:443': http2.port,
        'service-https0:443': secure.port,
        'service-http:80': plain.port,
      },
    });
    const port = await example.port(0);
    assert.match((await example.askSecurely(0, '/')).body, /"hostname":"service-https0"/);
    const socket = tls.connect({
      port,
      servername: 'localhost',
      ALPNProtocols: ['h2'],
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    assert.equal(socket.alpnProtocol, 'h2');
    await waitUntil('the host of HTTP/2', () => http2.sessions.length === 1);
    socket.destroy();
    assert.match((await example.ask(0, '/')).body, /"hostname":"service-http"/);
    const found = ['alpn_found', 'sni_found', 'tls_found', 'tls_not_found'].map((name) =>
      example.sluice.stat(`tls_inspector.${name}`),
    );
    assert.deepEqual(await Promise.all(found), [2, 2, 2, 1]);
  },
  websocket: async () => {
    using scratch = makeScratch();
    await using secure = await startSecureEcho('wss', makeAuthority(scratch.path));
    await using plain = await startRawUpstream((socket) => {
      socket.once('data', () => greet(socket, '[ws] HELO'));
    });
    const hosts = { 'service-ws:80': plain.port, 'service-wss:443': secure.port };
    for (const file of ['ws', 'ws-route', 'wss', 'wss-passthrough']) {
      await using example = await startExample(`websocket/envoy-${file}.yaml`, { hosts });
      const port = await example.port(0);
      assert.match(await openWebSocket(port, '/ws', file.startsWith('wss')), UPGRADED, file);
      if (file === 'ws-route') assert.equal((await example.ask(0, '/')).body, 'NotWebSocket\n');
    }
  },
  redis: async () => {
    await using server = await startRedisServer();
    await using example = await startExample('redis/envoy.yaml', {
      hosts: { 'redis:6379': server.port },
    });
    const client = await openRaw(await example.port(0));
    for (const name of ['foo', 'bar']) client.send(respCommand('set', name, name.toUpperCase()));
    for (const name of ['foo', 'bar']) client.send(respCommand('get', name));
    await client.until('+OK\r\n+OK\r\n$3\r\nFOO\r\n$3\r\nBAR\r\n');
    client.destroy();
    assert.equal(await example.sluice.stat('redis.egress_redis.command.set.total'), 2);
  },
  udp: async () => {
    await using host = await startDatagramHost((text) => text);
    await using example = await startExample('udp/envoy.yaml', {
      hosts: { 'service-udp:5005': host.port },
    });
    await using client = await openDatagramClient(await example.port(0));
    assert.equal(await client.ask('HELO'), 'HELO');
    assert.equal(await client.ask('OLEH'), 'OLEH');
    assert.deepEqual(host.heard, ['HELO', 'OLEH']);
    assert.match(await example.sluice.stats('filter=udp'), /downstream_sess_rx_datagrams: 2/);
  },
  'double-proxy': async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const name = (side: string): string => `proxy-postgres-${side}.example.com`;
    const server = authority.issue('server', `DNS:${name('backend')}`);
    const client = authority.issue('client', `DNS:${name('frontend')}`);
    const values = {
      'certs/cacert.pem': authority.certPath,
      'certs/servercert.pem': server.certPath,
      'certs/serverkey.pem': server.keyPath,
      'certs/clientcert.pem': client.certPath,
      'certs/clientkey.pem': client.keyPath,
    };
    await using database = await startRawUpstream((socket) => {
      socket.on('data', (piece) => socket.write(`PostgreSQL ${String(piece)}`));
    });
    await using back = await startExample('double-proxy/envoy-backend.yaml', {
      hosts: { 'postgres:5432': database.port },
      values,
    });
    const port = await back.port(0);
    await using front = await startExample('double-proxy/envoy-frontend.yaml', {
      hosts: { 'proxy-postgres-backend.example.com:5432': port },
      values,
    });
    const connection = await openRaw(await front.port(0));
    connection.send('version?');
    await connection.until('PostgreSQL version?');
    connection.destroy();
    await assert.rejects(fetchSecurely(port, '/'), 'a client without a certificate');
    await using app = await startHttpUpstream();
    await using web = await startExample('double-proxy/envoy.yaml', {
      hosts: { 'app:8080': app.port },
    });
    assert.equal((await web.ask(0, '/')).body, 'hello');
  },
  'grpc-bridge': async () => {
    await using store = await startGrpcPeer((call) => {
      call.stream.on('end', () => answerCall(call, call.body()));
    });
    await using server = await startExample('grpc-bridge/server/envoy-proxy.yaml', {
      hosts: { 'grpc-server:8081': store.port },
    });
    await using client = await startExample('grpc-bridge/client/envoy-proxy.yaml', {
      hosts: { 'grpc-server-proxy:8811': await server.port(0) },
    });
    const body = framed('\x0a\x03foo');
    const answer = await client.ask(0, {
      path: '/kv.KV/Get',
      method: 'POST',
      headers: { host: 'grpc', 'content-type': 'application/grpc' },
      body,
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.body, body.toString());
  },
};
