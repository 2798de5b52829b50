import assert from 'node:assert/strict';
import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import { GREETING, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority, type TestCertificate } from '../../support/parts/certificates.ts';
import { fileSource, moveIntoPlace } from '../../support/peers/discovery-files.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { ADMIN, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import {
  askSecurely,
  certificateFiles,
  secretMessage,
  secureListener,
  tlsSocket,
} from '../../support/parts/tls.ts';
import { waitUntil } from '../../support/wait.ts';

function bootstrapOf(listeners: readonly object[], clusters: readonly object[] = []): object {
  return {
    node: { id: 'me', cluster: 'mine' },
    admin: ADMIN,
    static_resources: { listeners, clusters },
  };
}

function named(name: string, scratch: Scratch, file: string): object {
  return { name, sds_config: fileSource(scratch.file(file)) };
}

function servedWith(config: object, others: object = {}): object {
  const context = { tls_certificate_sds_secret_configs: [config], ...others };
  return secureListener(GREETING, tlsSocket('Downstream', { common_tls_context: context }));
}

async function counter(sluice: Sluice, name: string): Promise<number> {
  return Number(/: (\d+)\n/.exec(await sluice.stats(`filter=${name}`))?.[1]);
}

/** Points the link at another pair in one step, as mounted secrets are renewed. */
function link(scratch: Scratch, pair: TestCertificate): void {
  const temporary = scratch.file('link.new');
  symlinkSync(pair.certPath.replace(/\/[^/]*$/, ''), temporary);
  renameSync(temporary, scratch.file('link'));
}

describe('secrets from files', () => {
  it('serve new connections from the moment that their files are replaced, and keep open ones', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const first = authority.issue('first', 'DNS:first.test');
    const second = authority.issue('second', 'DNS:second.test');
    writeFileSync(scratch.file('live.pem'), first.cert);
    writeFileSync(scratch.file('live.key'), first.key);
    const live = {
      ...first,
      certPath: scratch.file('live.pem'),
      keyPath: scratch.file('live.key'),
    };
    moveIntoPlace(scratch, 'sds.json', {
      version: '1',
      resources: [secretMessage('server', { tls_certificate: certificateFiles(live) })],
    });
    const trusted = { trusted_ca: { filename: authority.certPath } };
    moveIntoPlace(scratch, 'trust.json', {
      version: '1',
      resources: [secretMessage('trust', { validation_context: trusted })],
    });
    const trust = { validation_context_sds_secret_config: named('trust', scratch, 'trust.json') };
    await using sluice = await startSluice({
      bootstrap: bootstrapOf([servedWith(named('server', scratch, 'sds.json'), trust)]),
      concurrency: 2,
    });
    const port = await sluice.listenerPort('web');
    const open = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await new Promise<void>((resolve) => open.once('secureConnect', () => resolve()));
    assert.equal((await askSecurely(port)).name, 'first');
    moveIntoPlace(scratch, 'live.pem', second.cert);
    await waitUntil('the torn pair is noticed', async () => {
      return (await counter(sluice, 'sds.server.key_rotation_failed')) > 0;
    });
    assert.equal((await askSecurely(port)).name, 'first');
    moveIntoPlace(scratch, 'live.key', second.key);
    // Once for each secret, though the context was complete with the second alone.
    await waitUntil('the new pair is in use', async () => {
      return (await counter(sluice, 'ssl_context_update_by_sds')) === 3;
    });
    assert.equal((await askSecurely(port)).name, 'second');
    const answer = new Promise<string>((resolve) => {
      open.once('data', (piece: Buffer) => resolve(piece.toString('latin1')));
    });
    open.write('GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n');
    assert.match(await answer, /^HTTP\/1\.1 200 /);
    open.destroy();
    const dump = (await sluice.admin('/config_dump?resource=dynamic_active_secrets')).body;
    assert.match(dump, /"name": "server"/);
    assert.match(dump, /"inline_bytes": "W3JlZGFjdGVkXQ=="/);
    assert.match((await sluice.admin('/certs')).body, /second\.test/);
  });

  it('follow a link that is swapped in a watched directory', async () => {
    using scratch = makeScratch();
    using other = makeScratch();
    const one = makeAuthority(scratch.path).issue('one', 'DNS:one.test');
    const two = makeAuthority(other.path).issue('two', 'DNS:two.test');
    using links = makeScratch();
    link(links, one);
    const base = (path: string): string => path.replace(/^.*\//, '');
    const certificate = (pair: TestCertificate): object => ({
      certificate_chain: { filename: `${links.file('link')}/${base(pair.certPath)}` },
      private_key: { filename: `${links.file('link')}/${base(pair.keyPath)}` },
      watched_directory: { path: links.path },
    });
    for (const pair of [one, two]) {
      writeFileSync(pair.certPath.replace(base(pair.certPath), 'pair.pem'), pair.cert);
      writeFileSync(pair.keyPath.replace(base(pair.keyPath), 'pair.key'), pair.key);
    }
    const linked = { ...one, certPath: '/pair.pem', keyPath: '/pair.key' };
    moveIntoPlace(scratch, 'sds.json', {
      version: '1',
      resources: [secretMessage('server', { tls_certificate: certificate(linked) })],
    });
    await using sluice = await startSluice({
      bootstrap: bootstrapOf([servedWith(named('server', scratch, 'sds.json'))]),
    });
    const port = await sluice.listenerPort('web');
    assert.equal((await askSecurely(port)).name, 'one');
    link(links, two);
    await waitUntil('the other pair is in use', async () => {
      return (await askSecurely(port)).name === 'two';
    });
  });

  it('judge upstreams by a validation context laid over the default one', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const stranger = makeAuthority(scratch.path, 'other');
    const server = authority.issue('server', 'DNS:s.test');
    const validation = (path: string): object =>
      secretMessage('trust', { validation_context: { trusted_ca: { filename: path } } });
    moveIntoPlace(scratch, 'trust.json', {
      version: '1',
      resources: [validation(stranger.certPath)],
    });
    const context = {
      combined_validation_context: {
        default_validation_context: {
          match_typed_subject_alt_names: [{ san_type: 'DNS', matcher: { exact: 's.test' } }],
        },
        validation_context_sds_secret_config: named('trust', scratch, 'trust.json'),
      },
    };
    const upstream = tls.createServer({ cert: server.cert, key: server.key }, (each) => {
      each.on('error', () => undefined);
      each.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nup');
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port: upstreamPort } = upstream.address() as { port: number };
    const cluster = staticCluster('up', [upstreamPort], {
      transport_socket: tlsSocket('Upstream', { sni: 's.test', common_tls_context: context }),
    });
    const own = makeAuthority(scratch.path, 'own').issue('front', 'DNS:f.test');
    const listener = secureListener(
      [{ match: { prefix: '/' }, route: { cluster: 'up' } }],
      tlsSocket('Downstream', {
        common_tls_context: { tls_certificates: [certificateFiles(own)] },
      }),
    );
    await using sluice = await startSluice({ bootstrap: bootstrapOf([listener], [cluster]) });
    const port = await sluice.listenerPort('web');
    assert.match((await askSecurely(port)).text, / 503 /);
    moveIntoPlace(scratch, 'trust.json', {
      version: '2',
      resources: [validation(authority.certPath)],
    });
    await waitUntil('the new authority is trusted', async () => {
      return / 200 /.test((await askSecurely(port)).text);
    });
    upstream.close();
  });
});
