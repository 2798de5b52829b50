import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import tls from 'node:tls';

import { GREETING, bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import {
  askSecurely,
  certificateFiles,
  secureListener,
  tlsSocket,
} from '../../support/parts/tls.ts';

describe('TLS with clients', () => {
  it('chooses the certificate by server name and resumes sessions on any worker', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const one = authority.issue('one', 'DNS:one.test');
    const older = authority.issue('older', 'DNS:one.test', 'rsa');
    const two = authority.issue('two', 'DNS:*.two.test', 'rsa');
    const context = {
      alpn_protocols: ['http/1.1'],
      tls_certificates: [one, older, two].map(certificateFiles),
    };
    const listener = secureListener(
      GREETING,
      tlsSocket('Downstream', { common_tls_context: context }),
    );
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [listener] }),
      concurrency: 2,
    });
    const port = await sluice.listenerPort('web');
    const ALPNProtocols = ['http/1.1'];
    const wild = await askSecurely(port, { servername: 'a.two.test', ALPNProtocols });
    assert.deepEqual([wild.name, wild.protocol], ['two', 'http/1.1']);
    const plain = { servername: 'one.test', sigalgs: 'RSA-PSS+SHA256' };
    assert.equal((await askSecurely(port, plain)).name, 'older');
    const first = await askSecurely(port, { servername: 'one.test' });
    assert.equal(first.name, 'one');
    assert.match(first.text, /^HTTP\/1\.1 200 /);
    assert.equal(await renegotiates(port), false);
    const { session } = first;
    assert.ok(session !== undefined);
    for (let count = 0; count < 8; count += 1) {
      assert.ok((await askSecurely(port, { servername: 'one.test', session })).isReused);
    }
  });

  it('asks for a client certificate of its authority and counts who has none', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const stranger = makeAuthority(scratch.path, 'other').issue('stranger', 'DNS:c.test');
    const client = authority.issue('client', 'DNS:c.test');
    const context = {
      tls_certificates: [certificateFiles(authority.issue('server', 'DNS:s.test'))],
      validation_context: { trusted_ca: { filename: authority.certPath } },
    };
    const fields = { common_tls_context: context, require_client_certificate: true };
    const names = [{ san_type: 'DNS', matcher: { exact: 'c.test' } }];
    const validation = { ...context.validation_context, match_typed_subject_alt_names: names };
    const naming = { common_tls_context: { ...context, validation_context: validation } };
    const [web, named] = [fields, naming].map((each) =>
      secureListener(GREETING, tlsSocket('Downstream', each)),
    );
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [{ ...web }, { ...named, name: 'named', stat_prefix: 'named' }],
      }),
    });
    const namedPort = await sluice.listenerPort('named');
    assert.match((await askSecurely(namedPort, { ...client })).text, / 200 /);
    assert.equal((await askSecurely(namedPort)).text, '');
    const count = await sluice.stats('filter=named.*verify_no_cert');
    assert.equal(count, 'listener.named.ssl.fail_verify_no_cert: 1\n');
    const port = await sluice.listenerPort('web');
    assert.match((await askSecurely(port, { cert: client.cert, key: client.key })).text, / 200 /);
    assert.equal((await askSecurely(port)).text, '');
    assert.equal((await askSecurely(port, { cert: stranger.cert, key: stranger.key })).text, '');
    const raw = await openRaw(port);
    raw.send('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
    await raw.closed();
    await sluice.waitForStat('listener.127.0.0.1_0.ssl.connection_error', (value) => value === 1);
    const stats = await sluice.stats('filter=ssl');
    assert.match(stats, /ssl\.handshake: 1\n/);
    assert.match(stats, /ssl\.fail_verify_no_cert: 1\n/);
    assert.match(stats, /ssl\.fail_verify_error: 1\n/);
    assert.match(stats, /ssl\.connection_error: 1\n/);
  });
});

describe('TLS with upstreams', () => {
  it('judges hosts by configured names and by those of requests, and answers 503 else', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const server = authority.issue('server', 'DNS:s.test,IP:127.0.0.9');
    const upstream = tls.createServer({ cert: server.cert, key: server.key }, (each) => {
      const { servername } = each as { readonly servername?: string | false };
      each.on('error', () => undefined);
      each.end(`HTTP/1.1 200 OK\r\nx-sni: ${servername}\r\ncontent-length: 2\r\n\r\nup`);
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port: upstreamPort } = upstream.address() as { port: number };
    const cluster = (name: string, wanted: string): object =>
      staticCluster(name, [upstreamPort], {
        transport_socket: tlsSocket('Upstream', {
          sni: 's.test',
          common_tls_context: {
            validation_context: {
              trusted_ca: { filename: authority.certPath },
              match_typed_subject_alt_names: [{ san_type: 'DNS', matcher: { exact: wanted } }],
            },
          },
        }),
      });
    const named = staticCluster('named', [upstreamPort], {
      transport_socket: tlsSocket('Upstream', {
        sni: 'configured.test',
        common_tls_context: {
          validation_context: { trusted_ca: { filename: authority.certPath } },
        },
      }),
      upstream_http_protocol_options: {
        auto_sni: true,
        auto_san_validation: true,
        override_auto_sni_header: 'x-name',
      },
    });
    const routes = ['good', 'bad', 'named'].map((name) => ({
      match: { prefix: `/${name}` },
      route: { cluster: name },
    }));
    const context = { common_tls_context: { tls_certificates: [certificateFiles(server)] } };
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [secureListener(routes, tlsSocket('Downstream', context))],
        clusters: [cluster('good', 's.test'), cluster('bad', 'other.test'), named],
      }),
    });
    const port = await sluice.listenerPort('web');
    assert.match((await askSecurely(port, {}, '/good')).text, / 200 [^]*up$/);
    const refused = await askSecurely(port, {}, '/bad');
    assert.match(refused.text, / 503 [^]*reset reason: remote connection failure$/);
    const ask = async (headers: string): Promise<string> =>
      (await askSecurely(port, {}, '/named', headers)).text;
    assert.match(await ask('host: S.test:8443'), / 200 [^]*x-sni: s\.test\r\n/);
    assert.match(await ask('host: other.test'), / 503 /);
    assert.match(await ask('host: other.test\r\nx-name: s.test'), / 200 /);
    assert.match(await ask('host: 127.0.0.9'), /x-sni: configured\.test\r\n/);
    const stats = await sluice.stats('filter=cluster.*ssl');
    assert.match(stats, /cluster\.named\.ssl\.fail_verify_san: 1\n/);
    assert.match(stats, /cluster\.bad\.ssl\.fail_verify_san: 1\n/);
    assert.match(stats, /cluster\.good\.ssl\.handshake: 1\n/);
    upstream.close();
  });
});

/** Whether the server lets a client begin a second handshake. */
async function renegotiates(port: number): Promise<boolean> {
  const options = { port, host: '127.0.0.1', rejectUnauthorized: false } as const;
  const client = tls.connect({ ...options, maxVersion: 'TLSv1.2' });
  const isDone = await new Promise<boolean>((resolve) => {
    client.on('error', () => resolve(false));
    client.on('close', () => resolve(false));
    client.on('secureConnect', () => {
      client.renegotiate({}, (error) => resolve(error === null));
    });
  });
  client.destroy();
  return isDone;
}
