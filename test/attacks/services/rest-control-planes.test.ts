/**
 * What a control plane may answer over REST that has no end, another length than it says, or is no
 * answer: the question ends in its time, the last good routes stay, and the next good ones are taken.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { attackRuns } from '../../support/attack.ts';
import { httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { frame, sendAll } from '../../support/peers/hostile/hostile-control-plane.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { ADMIN, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

type Answer = (socket: Socket) => Promise<void> | void;

const OK = 'HTTP/1.1 200 OK\r\n';
const DEEP = attackRuns(50_000, 100_000);
/** The supervisor itself and what one question may bring in its time. */
const MEMORY_MAX_KB = attackRuns(400, 1024) * 1024;

function routes(version: string): string {
  const action = { direct_response: { status: 200, body: { inline_string: version } } };
  const rc = resource.routes('rc', [{ match: { prefix: '/' }, ...action }]);
  return JSON.stringify({ version_info: version, resources: [rc] });
}

function whole(body: string): Buffer {
  return Buffer.from(`${OK}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function* forEver(first: string, again: string): Generator<Uint8Array> {
  yield Buffer.from(first);
  const block = Buffer.from(again.repeat(Math.ceil(60_000 / again.length)));
  for (;;) yield block;
}

const endless =
  (first: string, again: string): Answer =>
  (socket) =>
    sendAll(socket, forEver(first, again));
const says =
  (text: string): Answer =>
  (socket) =>
    void socket.end(text, 'latin1');

const HOSTILE: Readonly<Record<string, Answer>> = {
  'a body without end': endless(`${OK}content-length: 99999999999999\r\n\r\n`, 'x'.repeat(1000)),
  'chunks of one byte without end': endless(
    `${OK}transfer-encoding: chunked\r\n\r\n`,
    '1\r\nx\r\n',
  ),
  'a chunk of 2^60 bytes': says(`${OK}transfer-encoding: chunked\r\n\r\n1000000000000000\r\nx`),
  'chunk extensions without end': endless(`${OK}transfer-encoding: chunked\r\n\r\n1;`, 'x'),
  'headers without end': endless(OK, 'x: y\r\n'),
  'a header without end': endless(`${OK}x: `, 'y'),
  'trailers without end': endless(`${OK}transfer-encoding: chunked\r\n\r\n0\r\n`, 'x: y\r\n'),
  'interim answers without end': endless('', 'HTTP/1.1 100 Continue\r\n\r\n'),
  'a status line without end': endless('HTTP/1.1 200 ', 'O'),
  'line feeds without end': endless('', '\r\n'),
  'a body that breaks off': says(`${OK}content-length: 100\r\n\r\n{}`),
  'a body that is longer than announced': says(
    `${OK}content-length: 2\r\n\r\n{}${routes('forged')}`,
  ),
  'two lengths': says(`${OK}content-length: 2\r\ncontent-length: 3\r\n\r\n{}x`),
  'a length that is none': says(`${OK}content-length: -1\r\n\r\n{}`),
  'a length and a coding': says(`${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}`),
  'no answer': says(''),
  silence: async (socket) => void (await once(socket, 'close')),
  'HTTP/2': (socket) => void socket.end(frame(4, 0, 0)),
  'another status': says('HTTP/1.1 599 x\r\ncontent-length: 0\r\n\r\n'),
  'a redirect': says('HTTP/1.1 302 x\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n'),
  'an upgrade': says('HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  ...Object.fromEntries(
    [
      '[]',
      'null',
      '"x"',
      '{"resources":{}}',
      '{"version_info":{"a":1}}',
      '{"version_info":"a\\u0000b\\n[forged]","resources":[{}]}',
      '{"__proto__":{"resources":[]},"constructor":1}',
      '['.repeat(DEEP),
      `{"resources":[${'{"resource":'.repeat(DEEP)}`,
      `{"version_info":"${'x'.repeat(DEEP)}"`,
      `{"resources":[${'{},'.repeat(DEEP)}{}]}`,
      '{"resources":[{"@type":"type.googleapis.com/google.protobuf.Any","value":{"@type":"x"}}]}',
    ].map((body) => [`JSON like ${body.slice(0, 40)}`, says(whole(body).toString('latin1'))]),
  ),
};

interface RestServer extends AsyncDisposable {
  readonly port: number;
  /** What the next question gets, one after the other; then what is good now. */
  readonly next: Answer[];
  good: string;
}

async function startRestServer(): Promise<RestServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    let asked = '';
    socket.on('data', (piece: Buffer) => {
      asked += piece.toString('latin1');
      // A question ends with its JSON; over HTTP/2 whatever comes is answered.
      if (!asked.endsWith('}') && !asked.startsWith('PRI')) return;
      asked = '';
      const hostile = self.next.shift();
      if (hostile === undefined) socket.write(whole(routes(self.good)));
      else void Promise.resolve(hostile(socket));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const self: RestServer = {
    port: (server.address() as AddressInfo).port,
    next: [],
    good: 'first',
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return self;
}

function start(port: number, cluster: object = {}): Promise<Sluice> {
  const source = {
    api_config_source: {
      api_type: 'REST',
      transport_api_version: 'V3',
      cluster_names: ['control'],
      refresh_delay: '0.01s',
      request_timeout: '0.2s',
    },
    resource_api_version: 'V3',
    // The start does not wait for one that never answers.
    initial_fetch_timeout: '0.5s',
  };
  const rds = { config_source: source, route_config_name: 'rc' };
  return startSluice({
    bootstrap: {
      node: { id: 'me', cluster: 'mine' },
      admin: ADMIN,
      static_resources: {
        listeners: [httpListener([], { hcm: { route_config: undefined, rds } })],
        clusters: [staticCluster('control', [port], cluster)],
      },
    },
  });
}

describe('a hostile control plane over REST', () => {
  it('changes nothing, and is asked again', async () => {
    await using control = await startRestServer();
    await using sluice = await start(control.port);
    const port = await sluice.listenerPort('web');
    for (const [name, answer] of Object.entries(HOSTILE)) {
      const before = control.good;
      control.next.push(answer);
      await waitUntil(`the question for ${name}`, () => control.next.length === 0);
      const page = await fetchOnce({ port, path: '/' });
      assert.deepEqual([page.status, page.body], [200, before], name);
      assert.equal((await sluice.admin('/ready')).status, 200, name);
      control.good = name;
      await waitUntil(`good routes after ${name}`, async () => {
        const { body } = await fetchOnce({ port, path: '/' });
        assert.ok(body === before || body === name, body);
        return body === name;
      });
    }
    const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${sluice.pid}/status`, 'utf8'))?.[1];
    assert.ok(Number(peak) < MEMORY_MAX_KB, `${peak} KB`);
    for (const line of sluice.stderr().split('\n').slice(0, -1)) {
      assert.match(line.slice(0, 100), /^\[\d{4}-\d\d-\d\d [\d:.]+\]\[\d+\]\[/);
    }
  });

  it('is asked on another connection where HTTP/2 broke', async () => {
    const connections: Socket[] = [];
    const server = createServer((socket) => {
      connections.push(socket);
      socket.on('error', () => undefined);
      // After it nothing is read from the connection any more.
      socket.once('data', () =>
        socket.write(Buffer.concat([frame(4, 0, 0), Buffer.alloc(9, 255)])),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await using sluice = await start(port, { http2_protocol_options: {} }).catch(() => undefined);
    await waitUntil('three connections', () => connections.length >= 3);
    for (const socket of connections) socket.destroy();
    server.close();
    void sluice;
  });
});
