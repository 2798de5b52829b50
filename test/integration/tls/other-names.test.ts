import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import { bootstrap, GREETING, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority, type TestCertificate } from '../../support/parts/certificates.ts';
import {
  askSecurely,
  certificateFiles,
  secureListener,
  tlsSocket,
} from '../../support/parts/tls.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const USER_NAME = '1.3.6.1.4.1.311.20.2.3';

const named = (name: string): object => ({
  san_type: 'OTHER_NAME',
  oid: USER_NAME,
  matcher: { exact: name },
});

async function serve({ cert, key }: TestCertificate): Promise<tls.Server> {
  const server = tls.createServer({ cert, key }, (socket) => {
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return server;
}

const portOf = (server: tls.Server): number => (server.address() as { port: number }).port;

describe('subject alternative names of other kinds', () => {
  it('say which clients are served', async () => {
    using scratch = makeScratch();
    const ca = makeAuthority(scratch.path);
    const friend = ca.issue('friend', `otherName:${USER_NAME};UTF8:friend`);
    const stranger = ca.issue('stranger', `otherName:${USER_NAME};UTF8:stranger`);
    const another = ca.issue('another', 'otherName:1.2.3.4;UTF8:friend');
    const plain = ca.issue('plain', 'DNS:friend');
    const socket = tlsSocket('Downstream', {
      common_tls_context: {
        tls_certificates: [certificateFiles(plain)],
        validation_context: {
          trusted_ca: { filename: ca.certPath },
          match_typed_subject_alt_names: [named('friend')],
        },
      },
    });
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [secureListener(GREETING, socket)] }),
    });
    const port = await sluice.listenerPort('web');
    const ask = async ({ cert, key }: TestCertificate): Promise<string> =>
      (await askSecurely(port, { cert, key })).text;
    assert.match(await ask(friend), / 200 /);
    for (const client of [stranger, another, plain]) assert.equal(await ask(client), '');
    const [counted] = (await sluice.stats('filter=fail_verify_san')).split('\n');
    assert.match(counted ?? '', /: 3$/);
  });

  it('say which hosts are asked', async () => {
    using scratch = makeScratch();
    const ca = makeAuthority(scratch.path);
    const host = await serve(ca.issue('host', `otherName:${USER_NAME};IA5:host`));
    const trusting = (name: string): object => ({
      transport_socket: tlsSocket('Upstream', {
        common_tls_context: {
          validation_context: {
            trusted_ca: { filename: ca.certPath },
            match_typed_subject_alt_names: [named(name)],
          },
        },
      }),
    });
    const routes = ['host', 'other'].map((cluster) => ({
      match: { prefix: `/${cluster}` },
      route: { cluster },
    }));
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(routes)],
        clusters: ['host', 'other'].map((name) =>
          staticCluster(name, [portOf(host)], trusting(name)),
        ),
      }),
    });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port, path: '/host' })).status, 200);
    assert.equal((await fetchOnce({ port, path: '/other' })).status, 503);
    host.close();
  });
});
