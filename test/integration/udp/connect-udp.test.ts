/** CONNECT-UDP that ends here: capsules of a request become datagrams of a host, and back. */
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import http2 from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const host = dgram.createSocket('udp4');
const seen: string[] = [];
let sluice: Sluice;
let port: number;

before(async () => {
  host.on('message', (data, from) => {
    seen.push(data.toString());
    host.send(`echo:${data.toString()}`, from.port, from.address);
  });
  host.bind(0, '127.0.0.1');
  await once(host, 'listening');
  const upgrades = [{ upgrade_type: 'CONNECT-UDP', connect_config: {} }];
  const routes = [
    { match: { connect_matcher: {} }, route: { cluster: 'up', upgrade_configs: upgrades } },
    { match: { prefix: '/' }, direct_response: { status: 404 } },
  ];
  const hcm = {
    http2_protocol_options: { allow_connect: true },
    upgrade_configs: [{ upgrade_type: 'CONNECT-UDP' }],
  };
  sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm })],
      clusters: [staticCluster('up', [host.address().port])],
    }),
  });
  port = await sluice.listenerPort('web');
});

after(async () => {
  await sluice[Symbol.asyncDispose]();
  host.close();
});

interface Tunnel extends AsyncDisposable {
  readonly stream: http2.ClientHttp2Stream;
  readonly headers: http2.IncomingHttpHeaders;
  received(): string;
}

async function open(): Promise<Tunnel> {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  await once(session, 'remoteSettings');
  const stream = session.request(
    {
      ':method': 'CONNECT',
      ':protocol': 'connect-udp',
      ':path': '/.well-known/masque/udp/h/1/',
      'capsule-protocol': '?1',
    },
    { endStream: false },
  );
  let text = '';
  stream.on('data', (piece: Buffer) => (text += piece.toString('latin1')));
  stream.on('error', () => undefined);
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
  return {
    stream,
    headers,
    received: () => text,
    [Symbol.asyncDispose]: async () => {
      session.destroy();
    },
  };
}

const capsule = (payload: string, type = 0): Buffer =>
  Buffer.concat([Buffer.from([type, payload.length]), Buffer.from(payload, 'latin1')]);

describe('CONNECT-UDP over HTTP/2', () => {
  it('takes capsules to the host and its datagrams back', async () => {
    await using tunnel = await open();
    assert.equal(tunnel.headers[':status'], 200);
    assert.equal(tunnel.headers['capsule-protocol'], '?1');
    tunnel.stream.write(capsule('\0hello'));
    await waitUntil('the answer', () => tunnel.received() === '\0\u000b\0echo:hello');
    tunnel.stream.write(Buffer.concat([capsule('\0a'), capsule('\0b').subarray(0, 2)]));
    tunnel.stream.write('\0b');
    await waitUntil('both answers', () => /echo:a.*echo:b/s.test(tunnel.received()));
  });

  it('passes over other capsules and other contexts', async () => {
    await using tunnel = await open();
    const before = seen.length;
    tunnel.stream.write(Buffer.concat([capsule('xyz', 5), capsule('\u0001no'), capsule('\0yes')]));
    await waitUntil('the answer', () => tunnel.received().endsWith('echo:yes'));
    assert.deepEqual(seen.slice(before), ['yes']);
  });

  it('resets the stream of what is no capsule, and where one is cut off', async () => {
    for (const piece of [capsule(''), Buffer.from([0, 16, 0])]) {
      await using tunnel = await open();
      tunnel.stream.end(piece);
      await new Promise((resolve) => tunnel.stream.once('close', resolve));
      assert.equal(tunnel.stream.rstCode, http2.constants.NGHTTP2_INTERNAL_ERROR);
    }
  });
});

describe('CONNECT-UDP as an upgrade of HTTP/1', () => {
  it('is answered 200 as in Envoy, and takes datagrams', async () => {
    const client = await openRaw(port);
    client.send(
      'GET /.well-known/masque/udp/h/1/ HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: connect-udp\r\n\r\n',
    );
    const head = await client.until('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 200 OK\r\n.*transfer-encoding: chunked/s);
    client.send(capsule('\0hey').toString('latin1'));
    await client.until('echo:hey');
    client.destroy();
  });
});
