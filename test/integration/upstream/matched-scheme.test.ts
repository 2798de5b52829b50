/** `match_upstream`: the scheme that a host is told is that of the connection to it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeAuthority, type TestAuthority } from '../../support/parts/certificates.ts';
import { tlsSocket } from '../../support/parts/tls.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttp2Upstream } from '../../support/peers/http2.ts';
import { http2, proxyToHttp2 } from '../../support/programs/http2-upstreams.ts';
import { makeScratch } from '../../support/scratch.ts';

type Leaf = ReturnType<TestAuthority['issue']>;

/** What a host is told of a request that came without TLS. */
async function toldScheme(hcm: object, leaf: Leaf | undefined): Promise<string> {
  let scheme = '';
  await using upstream = await startHttp2Upstream(
    (stream, headers) => {
      scheme = headers[':scheme'] ?? '';
      stream.respond({ ':status': 200 });
      stream.end();
    },
    leaf === undefined ? {} : { tls: leaf },
  );
  const socket = { transport_socket: tlsSocket('Upstream', {}) };
  const cluster = { ...http2(), ...(leaf === undefined ? {} : socket) };
  await using sluice = await proxyToHttp2(upstream.port, { hcm, cluster });
  assert.equal((await fetchOnce({ port: sluice.port })).status, 200);
  return scheme;
}

describe('the scheme that a host is told', () => {
  it('is that of the connection to it where this is wanted', async () => {
    using scratch = makeScratch();
    const leaf = makeAuthority(scratch.path).issue('leaf', 'DNS:localhost', 'rsa');
    const matching = { scheme_header_transformation: { match_upstream: true } };
    assert.equal(await toldScheme({}, leaf), 'http');
    assert.equal(await toldScheme(matching, leaf), 'https');
    assert.equal(await toldScheme(matching, undefined), 'http');
  });
});
