import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchBytes } from '../../support/peers/fetch-bytes.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';

const EXTENSIONS = 'type.googleapis.com/envoy.extensions';
const HTTP = `${EXTENSIONS}.filters.http`;
const ROUTER = {
  name: 'router',
  typed_config: { '@type': `${HTTP}.router.v3.Router` },
};

function compressor(library: 'gzip' | 'brotli', settings: object = {}): object {
  const type = library === 'gzip' ? 'gzip.compressor.v3.Gzip' : 'brotli.compressor.v3.Brotli';
  return {
    name: library,
    typed_config: {
      '@type': `${HTTP}.compressor.v3.Compressor`,
      compressor_library: {
        name: 'text',
        typed_config: { '@type': `${EXTENSIONS}.compression.${type}` },
      },
      ...settings,
    },
  };
}

function decompressor(library: 'gzip' | 'brotli'): object {
  const type = library === 'gzip' ? 'gzip.decompressor.v3.Gzip' : 'brotli.decompressor.v3.Brotli';
  return {
    name: `de-${library}`,
    typed_config: {
      '@type': `${HTTP}.decompressor.v3.Decompressor`,
      decompressor_library: {
        name: 'text',
        typed_config: { '@type': `${EXTENSIONS}.compression.${type}` },
      },
    },
  };
}

async function startWith(
  filters: readonly object[],
  upstreamPort: number,
): Promise<{ sluice: Sluice; port: number }> {
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters: [...filters, ROUTER] } })],
      clusters: [staticCluster('up', [upstreamPort])],
    }),
  });
  return { sluice, port: await sluice.listenerPort('web') };
}

const NUMBERS = Array.from({ length: 9_000 }, (_, number) => number).join(' ');
const TEXT = 'a line of text\n'.repeat(100_000);

describe('compression and authentication filters', () => {
  it('tells what became of an answer, and knows types by matchers', async () => {
    await using upstream = await startHttpUpstream((req, response) => {
      const [, type = '', size = '200'] = /^\/(\w+\/\w+)(?:,(\d+))?/.exec(req.url ?? '') ?? [];
      if (req.url?.endsWith('gone') === true) response.statusCode = 410;
      if (req.url?.endsWith('etag') === true) response.setHeader('etag', '"a"');
      response.setHeader('content-type', `${type}; charset=utf-8`);
      response.setHeader('content-length', size);
      response.end('x'.repeat(Number(size)));
    });
    const settings = {
      status_header_enabled: true,
      uncompressible_response_codes: [410],
      disable_on_etag_header: true,
      common_config: { content_type: ['text/html'], content_type_matcher: [{ prefix: 'text/pl' }] },
    };
    const filter = compressor('gzip', { response_direction_config: settings });
    const { sluice, port } = await startWith([filter], upstream.port);
    await using _ = sluice;
    const told = async (path: string, accepted = 'gzip'): Promise<unknown> => {
      const headers = { 'accept-encoding': accepted };
      return (await fetchOnce({ port, path, headers })).headers['x-envoy-compression-status'];
    };
    assert.equal(await told('/text/plain'), 'gzip;Compressed;OriginalLength=200');
    assert.equal(await told('/text/plain', 'identity'), undefined);
    assert.equal(await told('/text/plain,5'), 'gzip;ContentLengthTooSmall');
    assert.equal(await told('/text/html'), 'gzip;ContentTypeNotAllowed');
    assert.equal(await told('/text/plain,99gone'), 'gzip;StatusCodeNotAllowed');
    assert.equal(await told('/text/plain,99etag'), 'gzip;EtagNotAllowed');
  });

  it('decompressor opens what upstream compressed, and breaks off what grows beyond measure', async () => {
    const bodies: Readonly<Record<string, readonly [string, Buffer]>> = {
      gzip: ['GZIP, x', gzipSync(NUMBERS)],
      br: ['br', brotliCompressSync('short')],
      bomb: ['gzip', gzipSync(Buffer.alloc(4_000_000))],
      wrong: ['gzip', Buffer.from('certainly not gzip')],
    };
    await using upstream = await startHttpUpstream((incoming, response) => {
      const [encoding, body] = bodies[String(incoming.headers['x-body'])] ?? assert.fail('unknown');
      response.writeHead(200, { 'content-encoding': encoding }).end(body);
    });
    const { sluice, port } = await startWith(
      [decompressor('gzip'), decompressor('brotli')],
      upstream.port,
    );
    await using _ = sluice;
    const gzip = await fetchBytes(port, { 'x-body': 'gzip' });
    assert.equal(gzip.headers['content-encoding'], 'x');
    assert.equal(gzip.headers['content-length'], undefined);
    assert.equal(gzip.body.toString(), NUMBERS);
    assert.equal(upstream.requests[0]?.headers['accept-encoding'], 'gzip,br');
    const brotli = await fetchBytes(port, { 'x-body': 'br' });
    assert.equal(brotli.headers['content-encoding'], undefined);
    assert.equal(brotli.body.toString(), 'short');
    await assert.rejects(fetchBytes(port, { 'x-body': 'bomb' }));
    await assert.rejects(fetchBytes(port, { 'x-body': 'wrong' }));
    const prefix = 'http.web.decompressor.text.gzip.';
    assert.equal(await sluice.stat(`${prefix}response.decompressed`), 3);
    assert.equal(await sluice.stat(`${prefix}response.not_decompressed`), 1);
    assert.equal(await sluice.stat(`${prefix}response.total_uncompressed_bytes`), NUMBERS.length);
    assert.equal(await sluice.stat(`${prefix}decompressor_library.zlib_data_error`), 2);
  });

  it('compressor answers in the encoding that the client likes best', async () => {
    await using upstream = await startHttpUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html', etag: '"1"' });
      response.end(TEXT);
    });
    const filters = [compressor('gzip'), compressor('brotli')];
    const { sluice, port } = await startWith(filters, upstream.port);
    await using _ = sluice;
    const gzip = await fetchBytes(port, { 'accept-encoding': 'br;q=0.5, gzip' });
    assert.equal(gzip.headers['content-encoding'], 'gzip');
    assert.equal(gzip.headers['vary'], 'Accept-Encoding');
    assert.equal(gzip.headers['etag'], undefined);
    assert.equal(gunzipSync(gzip.body).toString(), TEXT);
    const brotli = await fetchBytes(port, { 'accept-encoding': 'br, gzip' });
    assert.equal(brotli.headers['content-encoding'], 'br');
    assert.equal(brotliDecompressSync(brotli.body).toString(), TEXT);
    const plain = await fetchBytes(port, {});
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(plain.body.length, TEXT.length);
    assert.equal(await sluice.stat('http.web.compressor.text.gzip.compressed'), 1);
    assert.equal(await sluice.stat('http.web.compressor.text.brotli.compressed'), 1);
    assert.equal(
      await sluice.stat('http.web.compressor.text.gzip.total_uncompressed_bytes'),
      TEXT.length,
    );
  });

  it('compressor leaves short and unsuitable answers as they are', async () => {
    await using upstream = await startHttpUpstream((asked, response) => {
      const isShort = asked.headers['x-short'] !== undefined;
      response.setHeader('content-type', isShort ? 'text/html' : 'image/png');
      response.end('x'.repeat(isShort ? 29 : 100));
    });
    const { sluice, port } = await startWith([compressor('gzip')], upstream.port);
    await using _ = sluice;
    for (const extra of [{ 'x-short': '1' }, {}]) {
      const { headers } = await fetchBytes(port, { 'accept-encoding': 'gzip', ...extra });
      assert.equal(headers['content-encoding'], undefined);
      assert.equal(headers['vary'], undefined);
    }
    assert.equal(await sluice.stat('http.web.compressor.text.gzip.content_length_too_small'), 1);
  });

  it('compressor gives on what a stream has sent so far', async () => {
    await using upstream = await startHttpUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('event');
    });
    const { sluice, port } = await startWith([compressor('gzip')], upstream.port);
    await using _ = sluice;
    const headers = { 'accept-encoding': 'gzip' };
    await new Promise<void>((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port, headers, agent: false }, (response) => {
        response.on('error', () => undefined);
        response.once('data', () => {
          outgoing.destroy();
          resolve();
        });
      });
      outgoing.setTimeout(2_000, () => reject(new Error('nothing came of what was sent')));
      outgoing.on('error', reject);
      outgoing.end();
    });
    await sluice.waitForStat('http.web.downstream_rq_active', (count) => count === 0);
    await sluice.waitForStat('cluster.up.upstream_rq_active', (count) => count === 0);
  });

  it('compressor compresses requests where that is configured', async () => {
    let seen = Buffer.alloc(0);
    await using upstream = await startHttpUpstream((asked, response) => {
      const chunks: Buffer[] = [];
      asked.on('data', (chunk: Buffer) => chunks.push(chunk));
      asked.on('end', () => {
        seen = Buffer.concat(chunks);
        response.end('done');
      });
    });
    const filters = [compressor('gzip', { request_direction_config: {} })];
    const { sluice, port } = await startWith(filters, upstream.port);
    await using _ = sluice;
    assert.equal((await fetchOnce({ port, method: 'POST', body: TEXT })).status, 200);
    assert.equal(upstream.requests[0]?.headers['content-encoding'], 'gzip');
    assert.equal(gunzipSync(seen).toString(), TEXT);
    assert.equal(await sluice.stat('http.web.compressor.text.gzip.request.compressed'), 1);
  });

  it('csrf refuses changes that another site asks for', async () => {
    await using upstream = await startHttpUpstream();
    const csrf = {
      name: 'csrf',
      typed_config: {
        '@type': `${HTTP}.csrf.v3.CsrfPolicy`,
        filter_enabled: { default_value: { numerator: 100 } },
        additional_origins: [{ exact: 'friend.test' }],
      },
    };
    const { sluice, port } = await startWith([csrf], upstream.port);
    await using _ = sluice;
    const ask = async (method: string, headers: Record<string, string>): Promise<number> =>
      (await fetchOnce({ port, method, headers: { host: 'own.test', ...headers } })).status;
    assert.equal(await ask('POST', { origin: 'http://own.test' }), 200);
    assert.equal(await ask('POST', { referer: 'https://own.test/page' }), 200);
    assert.equal(await ask('PUT', { origin: 'http://friend.test' }), 200);
    assert.equal(await ask('GET', { origin: 'http://bad.test' }), 200);
    assert.equal(await ask('DELETE', { origin: 'http://bad.test' }), 403);
    assert.equal(await ask('POST', { origin: 'null' }), 403);
    assert.equal(await sluice.stat('http.web.csrf.request_valid'), 3);
    assert.equal(await sluice.stat('http.web.csrf.request_invalid'), 1);
    assert.equal(await sluice.stat('http.web.csrf.missing_source_origin'), 1);
  });

  it('basic_auth lets only known users pass, and tells the upstream who they are', async () => {
    await using upstream = await startHttpUpstream();
    const auth = {
      name: 'auth',
      typed_config: {
        '@type': `${HTTP}.basic_auth.v3.BasicAuth`,
        users: { inline_string: 'user1:{SHA}tESsBmE/yNY3lb6a0L6vVQEZNqw=\n' },
        forward_username_header: 'x-user',
      },
    };
    const { sluice, port } = await startWith([auth], upstream.port);
    await using _ = sluice;
    const ask = (credentials: string): ReturnType<typeof fetchOnce> =>
      fetchOnce({
        port,
        headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      });
    assert.equal((await ask('user1:test1')).status, 200);
    assert.equal(upstream.requests[0]?.headers['x-user'], 'user1');
    assert.equal((await ask('user1:test2')).status, 401);
    assert.equal((await ask('nobody:test1')).status, 401);
    const missing = await fetchOnce({ port });
    assert.equal(missing.body, 'User authentication failed. Missing username and password.');
    assert.equal(missing.headers['www-authenticate'], `Basic realm="http://127.0.0.1:${port}/"`);
    assert.equal(await sluice.stat('http.web.basic_auth.denied'), 3);
  });
});
