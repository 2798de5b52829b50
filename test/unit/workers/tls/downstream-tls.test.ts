import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../../shared/process/clock.ts';
import type { DownstreamTls, TlsCertificate } from '../../../../shared/resources/tls.ts';
import type { ConnectionInfo } from '../../../../workers/net/connection-info.ts';
import { type RuntimeTls, runtimeTls } from '../../../../workers/net/tls/runtime-tls.ts';
import { carrierOfSocket } from '../../../../workers/net/tls/tls-carrier.ts';
import type { TransportHandler } from '../../../../workers/net/byte-stream.ts';
import type { Transport } from '../../../../workers/net/transport.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { DownstreamTlsFactory } from '../../../../workers/tls/downstream-tls.ts';
import { SecretStore } from '../../../../workers/tls/secret-store.ts';
import { WorkerLoop } from '../../../../workers/loop/worker-loop.ts';
import { makeAuthority } from '../../../support/parts/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
const authority = makeAuthority(folder);
const stranger = makeAuthority(folder, 'other').issue('stranger', 'DNS:c.test');
const client = authority.issue('client', 'DNS:c.test');
const one = authority.issue('one', 'DNS:one.test');
const two = authority.issue('two', 'DNS:*.two.test');
const LARGE = Buffer.alloc(3 * 1024 * 1024, 'large body ');

const presented: DownstreamTls = {
  parameters: {
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    ciphers: tls.DEFAULT_CIPHERS,
    curves: 'X25519:P-256',
  },
  alpn: ['http/1.1'],
  certificates: [certificate(one, 'one.test'), certificate(two, '*.two.test')],
  certificateSecrets: [],
  requireClientCertificate: false,
  requireServerName: false,
  preferClientCiphers: false,
  usesTickets: true,
  sessionTimeoutS: 7200,
};
const mutual: DownstreamTls = {
  ...presented,
  requireClientCertificate: true,
  validation: {
    trustedCa: authority.cert,
    caPath: '',
    allowExpired: false,
    acceptUntrusted: false,
    sanMatchers: [],
    certificateHashes: [],
    spkiHashes: [],
  },
};

const ways: readonly (readonly [string, () => RuntimeTls | undefined])[] = [
  ['the handles of the runtime', runtimeTls],
  ['the sockets of node:tls', () => undefined],
];

after(() => rmSync(folder, { recursive: true, force: true }));

for (const [way, find] of ways) {
  describe(`TLS with clients over ${way}`, () => {
    let open: EchoServer;
    let closed: EchoServer;
    before(async () => {
      const runtime = find();
      open = await serveEcho(presented, runtime);
      closed = await serveEcho(mutual, runtime);
    });
    after(() => {
      for (const server of [open, closed]) server.close();
    });

    it('chooses the certificate by server name, and the protocol with either', async () => {
      const cases = [
        [undefined, 'one'],
        ['one.test', 'one'],
        ['a.two.test', 'two'],
        ['unknown.test', 'one'],
      ] as const;
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        for (const [servername, name] of cases) {
          const asked = servername === undefined ? {} : { servername };
          const ALPNProtocols = ['h2', 'http/1.1'];
          const said = await exchange(open, { ...asked, ALPNProtocols, maxVersion }, 'hello');
          assert.deepEqual(said, { name, protocol: 'http/1.1', text: 'hello' });
        }
      }
    });

    it('answers no protocol to a client that offers none', async () => {
      const said = await exchange(open, { servername: 'one.test' }, 'hello');
      assert.equal(said.protocol, false);
    });

    it('lets a client in by its certificate alone', async () => {
      const { cert, key } = client;
      assert.equal((await exchange(closed, { cert, key }, 'hello')).text, 'hello');
      const other = { cert: stranger.cert, key: stranger.key };
      assert.equal((await exchange(closed, other, 'hello')).text, '');
      assert.equal((await exchange(closed, {}, 'hello')).text, '');
    });

    it('passes a large body both ways and each end of it by itself', async () => {
      const { text } = await exchange(open, {}, LARGE);
      assert.ok(text === LARGE.toString('latin1'), `${text.length} bytes came back`);
      assert.deepEqual(await open.latest, ['end', 'close']);
    });
  });
}

interface EchoServer {
  readonly port: number;
  /** What its latest connection was told, once that has closed. */
  latest: Promise<readonly string[]>;
  close(): void;
}

/** Sends back what comes, and its end after the client's. */
async function serveEcho(
  config: DownstreamTls,
  runtime: RuntimeTls | undefined,
): Promise<EchoServer> {
  const factory = new DownstreamTlsFactory(config, {
    clock: systemClock,
    handshakeTimeoutMs: undefined,
    stats: new WorkerStatStore(),
    statOwner: 'listener.echo.',
    ticketKeys: Buffer.alloc(48),
    secrets: new SecretStore(),
    serverNames: [],
    runtime,
    log: () => undefined,
  });
  const loop = new WorkerLoop(systemClock);
  const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    const said: string[] = [];
    let closed = (): void => undefined;
    const over = new Promise<void>((resolve) => (closed = resolve));
    echo.latest = over.then(() => said);
    const handler: TransportHandler = {
      onConnect: () => undefined,
      onData: (input, start, end) => transport.writeData(input.subarray(start, end)),
      onRemoteEnd: () => {
        said.push('end');
        transport.endWriting();
      },
      onRemoteClose: () => {
        said.push('close');
        closed();
      },
      onWriteBlocked: (blocked) => transport.pauseReading(blocked),
    };
    const parts = { loop, handler, counters: undefined };
    const transport: Transport = factory.secure(carrierOfSocket(socket), facts(), parts, 64 * 1024);
    transport.keepHalfOpen();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const echo: EchoServer = {
    port: (server.address() as net.AddressInfo).port,
    latest: Promise.resolve([]),
    close: () => {
      server.close();
      factory.release();
    },
  };
  return echo;
}

interface Said {
  readonly name: string;
  readonly protocol: string | false | null;
  readonly text: string;
}

/** Sends a body with its end; the text is empty when the connection was refused. */
async function exchange(
  { port }: EchoServer,
  options: tls.ConnectionOptions,
  body: string | Buffer,
): Promise<Said> {
  const halves: tls.ConnectionOptions & net.SocketConstructorOpts = { allowHalfOpen: true };
  const where = { port, host: '127.0.0.1', rejectUnauthorized: false };
  const socket = tls.connect({ ...halves, ...where, ...options });
  const said: { -readonly [Key in keyof Said]: Said[Key] } = { name: '', protocol: null, text: '' };
  const pieces: Buffer[] = [];
  socket.on('secureConnect', () => {
    said.name = String(socket.getPeerCertificate().subject.CN);
    said.protocol = socket.alpnProtocol;
    socket.end(body);
  });
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.on('error', () => undefined);
  socket.on('end', () => socket.end());
  await new Promise<void>((resolve) => socket.on('close', () => resolve()));
  return { ...said, text: Buffer.concat(pieces).toString('latin1') };
}

function certificate({ cert, key }: { cert: string; key: string }, name: string): TlsCertificate {
  return { chain: cert, key, path: '<inline>', names: [name] };
}

function facts(): ConnectionInfo {
  const address = { kind: 'ip', ip: '127.0.0.1', port: 1, text: '127.0.0.1:1' } as const;
  return {
    id: 1,
    remoteAddress: address,
    directRemoteAddress: address,
    localAddress: address,
    listenerName: 'echo',
    direction: 'UNSPECIFIED',
    filterChainName: '',
    requestedServerName: '',
    tls: undefined,
    terminationDetails: '',
    transportFailureReason: '',
  };
}
