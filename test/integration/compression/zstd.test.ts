/** The libraries of zstd where the runtime has it, and what is said where it has not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomBytes } from 'node:crypto';
import {
  whyNoZstdCompression,
  whyNoZstdDecompression,
  zstd,
} from '../../../shared/process/zstd.ts';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { runSluice, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { fetchBytes } from '../../support/peers/fetch-bytes.ts';

const EXTENSIONS = 'type.googleapis.com/envoy.extensions';
const HTTP = `${EXTENSIONS}.filters.http`;
const ROUTER = { name: 'router', typed_config: { '@type': `${HTTP}.router.v3.Router` } };
const TEXT = 'a line of text\n'.repeat(20_000);

function filter(kind: 'compressor' | 'decompressor', settings: object = {}): object {
  return {
    name: kind,
    typed_config: {
      '@type': `${HTTP}.${kind}.v3.${kind === 'compressor' ? 'Compressor' : 'Decompressor'}`,
      [`${kind}_library`]: {
        name: 'text',
        typed_config: { '@type': `${EXTENSIONS}.compression.zstd.${kind}.v3.Zstd`, ...settings },
      },
    },
  };
}

function configOf(used: object, upstreamPort: number): object {
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  return bootstrap({
    listeners: [httpListener(routes, { hcm: { http_filters: [used, ROUTER] } })],
    clusters: [staticCluster('up', [upstreamPort])],
  });
}

async function startWith(
  used: object,
  upstreamPort: number,
): Promise<{ sluice: Sluice; port: number }> {
  const sluice = await startSluice({ bootstrap: configOf(used, upstreamPort) });
  return { sluice, port: await sluice.listenerPort('web') };
}

const noCompression = whyNoZstdCompression();
const noDecompression = whyNoZstdDecompression();

describe('compression with zstd', { skip: noCompression ?? false }, () => {
  it('is for answers to clients that accept it', async () => {
    await using upstream = await startHttpUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(TEXT);
    });
    const settings = { compression_level: 5, strategy: 'LAZY', enable_checksum: true };
    const { sluice, port } = await startWith(filter('compressor', settings), upstream.port);
    await using _ = sluice;
    const { headers, body } = await fetchBytes(port, { 'accept-encoding': 'br, zstd' });
    assert.equal(headers['content-encoding'], 'zstd');
    assert.equal(zstd?.zstdDecompressSync(body).toString(), TEXT);
    assert.equal((await fetchBytes(port, { 'accept-encoding': 'br' })).body.toString(), TEXT);
    const prefix = 'http.web.compressor.text.zstd.';
    assert.equal(await sluice.stat(`${prefix}compressed`), 1);
    assert.equal(await sluice.stat(`${prefix}total_uncompressed_bytes`), TEXT.length);
  });
});

describe('decompression with zstd', { skip: noDecompression ?? false }, () => {
  it('opens what hosts compressed, and breaks off what is not whole', async () => {
    assert.ok(zstd !== undefined);
    const text = randomBytes(5_000).toString('hex');
    const whole = zstd.zstdCompressSync(text);
    const params = { [zstd.constants.ZSTD_c_checksumFlag]: true };
    const summed = zstd.zstdCompressSync(text, { params });
    summed[summed.length - 1] = (summed.at(-1) ?? 0) ^ 1;
    const bodies: Readonly<Record<string, Buffer>> = {
      whole,
      cut: whole.subarray(0, -3),
      wrong: Buffer.from('certainly not zstd'),
      summed,
      bomb: zstd.zstdCompressSync(Buffer.alloc(4_000_000)),
      followed: Buffer.concat([whole, Buffer.from('more')]),
    };
    await using upstream = await startHttpUpstream((asked, response) => {
      const body = bodies[String(asked.headers['x-body'])] ?? assert.fail('unknown');
      response.writeHead(200, { 'content-encoding': 'zstd' }).end(body);
    });
    const { sluice, port } = await startWith(filter('decompressor'), upstream.port);
    await using _ = sluice;
    const { headers, body } = await fetchBytes(port, { 'x-body': 'whole' });
    assert.equal(headers['content-encoding'], undefined);
    assert.equal(body.toString(), text);
    assert.equal(upstream.requests[0]?.headers['accept-encoding'], 'zstd');
    for (const name of Object.keys(bodies).slice(1)) {
      await assert.rejects(fetchBytes(port, { 'x-body': name }), Error, name);
    }
    const prefix = 'http.web.decompressor.text.zstd.decompressor_library.zstd_';
    assert.equal(await sluice.stat(`${prefix}checksum_wrong_error`), 1);
    assert.equal(await sluice.stat(`${prefix}generic_error`), 4);
  });
});

describe('decompression with zstd where the runtime cannot', () => {
  it('is refused with the reason', { skip: noDecompression === undefined }, async () => {
    const config = JSON.stringify(configOf(filter('decompressor'), 1));
    const { code, stderr } = await runSluice(['--mode', 'validate', '--config-yaml', config]);
    assert.equal(code, 1);
    assert.ok(stderr.includes(noDecompression ?? ''), stderr);
  });
});
