/** `send_fully_qualified_url`: targets in absolute form, as hosts that are proxies want them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';

const HTTP1 = {
  enableTrailers: false,
  allowChunkedLength: false,
  headerCase: 'lower',
  sendsFullUrl: true,
} as const;

describe('requests to a host that is a proxy', () => {
  it('have their scheme and authority in the target, and the host too', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      upstreamHttp: { http1: HTTP1 },
    });
    const client = await openRaw(plane.port);
    client.send('GET /a?b HTTP/1.1\r\nHost: h.test:8\r\nConnection: close\r\n\r\n');
    await client.closed();
    assert.equal(upstream.requests[0]?.path, 'http://h.test:8/a?b');
    assert.equal(upstream.requests[0].headers.host, 'h.test:8');
  });
});
