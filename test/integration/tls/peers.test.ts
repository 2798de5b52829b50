/** What odd clients say of themselves in a handshake, as hosts and logs see it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import {
  buildCertificate,
  type CertificateDraft,
  commonName,
  der,
  isAuthority,
  makeKeys,
  sequence,
} from '../../support/parts/certificate-builder.ts';
import { makeParties } from '../../support/peers/session-parties.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { askSecurely, certificateFiles, tlsSocket } from '../../support/parts/tls.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const FORMAT =
  '%REQUESTED_SERVER_NAME%|%DOWNSTREAM_PEER_SUBJECT%|%DOWNSTREAM_PEER_ISSUER%|%DOWNSTREAM_PEER_CERT_V_END%\n';

/** Answers with the head of what it was sent. */
async function serveHeads(): Promise<net.Server> {
  const server = net.createServer((socket) => {
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (piece: Buffer) => {
      text += piece.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      const head = `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${text.length}\r\n\r\n`;
      socket.end(Buffer.from(head + text, 'latin1'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function listenerOf(logPath: string, transportSocket: object): object {
  const log = {
    name: 'file',
    typed_config: {
      '@type': `${TYPE}.access_loggers.file.v3.FileAccessLog`,
      path: logPath,
      log_format: { text_format_source: { inline_string: FORMAT } },
    },
  };
  const route = {
    match: { prefix: '/' },
    route: { cluster: 'heads' },
    request_headers_to_add: [{ header: { key: 'x-sni', value: '%REQUESTED_SERVER_NAME%' } }],
  };
  const listener = httpListener([route], {
    hcm: {
      access_log: [log],
      forward_client_cert_details: 'SANITIZE_SET',
      set_current_client_cert_details: { subject: true },
    },
  }) as { readonly filter_chains: readonly object[] };
  const inspector = {
    name: 'envoy.filters.listener.tls_inspector',
    typed_config: { '@type': `${TYPE}.filters.listener.tls_inspector.v3.TlsInspector` },
  };
  return {
    ...listener,
    listener_filters: [inspector],
    filter_chains: listener.filter_chains.map((chain) => ({
      ...chain,
      transport_socket: transportSocket,
    })),
  };
}

describe('clients with odd certificates and server names', () => {
  it('are served, refused and printed as by Envoy, and end no worker', async () => {
    using scratch = makeScratch();
    const heads = await serveHeads();
    const { server } = makeParties(scratch);
    const nameless = { keys: makeKeys(), name: sequence() };
    const usual = { keys: makeKeys(), name: commonName('root') };
    const roots = [nameless, usual].map(({ keys, name }) =>
      buildCertificate({
        subject: name,
        issuer: name,
        keys,
        signer: keys,
        extensions: [isAuthority()],
      }),
    );
    const trusted = scratch.file('trusted.pem');
    writeFileSync(trusted, roots.join(''));
    const end = der(23, Buffer.from('491231235959Z'));
    const client = (root: typeof usual, draft: Partial<CertificateDraft>): object => {
      const keys = makeKeys();
      const subject = commonName('c');
      const base = { subject, issuer: root.name, keys, signer: root.keys, to: end };
      return { key: keys.key, cert: buildCertificate({ ...base, ...draft }) };
    };
    const common = {
      tls_certificates: [certificateFiles(server)],
      validation_context: { trusted_ca: { filename: trusted } },
    };
    const logPath = scratch.file('access.log');
    const socket = tlsSocket('Downstream', { common_tls_context: common });
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [listenerOf(logPath, socket)],
        clusters: [staticCluster('heads', [(heads.address() as net.AddressInfo).port])],
      }),
      concurrency: 1,
      args: ['--file-flush-interval-msec', '10'],
    });
    const port = await sluice.listenerPort('web');
    const checkServerIdentity = (): undefined => undefined;
    const served: readonly (readonly [object, string, string, string])[] = [
      [client(usual, { subject: sequence() }), 'a.test', '', '-|CN=root'],
      [client(nameless, {}), 'a.test', 'CN=c', 'CN=c|-'],
      [
        client(usual, { subject: commonName('\u010d\u010ax: y') }),
        'a.test',
        'CN=\\C4\\8D\\C4\\8Ax: y',
        'CN=\\C4\\8D\\C4\\8Ax: y|CN=root',
      ],
      [client(usual, {}), 'a\r\nx-evil: 1', 'CN=c', 'CN=c|CN=root'],
      [client(usual, {}), 'É_b.test', 'CN=c', 'CN=c|CN=root'],
    ];
    const shownNames = ['a.test', 'a.test', 'a.test', 'invalid:a__x-evil__1', 'invalid:___b.test'];
    for (const [index, [options, servername, subject]] of served.entries()) {
      const { text } = await askSecurely(port, { ...options, servername, checkServerIdentity });
      assert.match(text, /^HTTP\/1\.1 200 /, `client ${index}`);
      assert.ok(text.includes(`;Subject="${subject}"\r\n`), text);
      assert.ok(text.includes(`\r\nx-sni: ${shownNames[index]}\r\n`), text);
    }
    const refused = client(usual, { to: der(23, Buffer.from('301332000000Z')) });
    assert.equal((await askSecurely(port, refused)).text, '');
    await waitUntil(
      'the lines are written',
      () => readFileSync(logPath, 'latin1').split('\n').length > served.length,
    );
    const lines = served.map(
      ([, , , names], index) => `${shownNames[index]}|${names}|2049-12-31T23:59:59.000Z\n`,
    );
    assert.equal(readFileSync(logPath, 'latin1'), lines.join(''));
    assert.match(await sluice.stats('filter=ssl.connection_error'), /: 1\n/);
    heads.close();
  });
});
