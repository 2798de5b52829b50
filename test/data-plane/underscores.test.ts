/**
 * Header names with underscores, of requests and of their trailers, and what is counted of them.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startDataPlane } from '../support/parts/data-plane.ts';
import { openRaw } from '../support/peers/raw-client.ts';
import { startRawUpstream } from '../support/peers/upstream.ts';

const IN_HEAD =
  'GET / HTTP/1.1\r\nhost: h\r\na_b: 1\r\nc_d: 1\r\na_b: 2\r\nconnection: close\r\n\r\n';
const IN_TRAILERS =
  'POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nt_r: 1\r\n\r\n';

async function send(underscoresInHeaders: 'REJECT_REQUEST' | 'DROP_HEADER') {
  await using upstream = await startRawUpstream((socket, received) => {
    socket.on('data', () => {
      if (!received().endsWith('\r\n\r\n')) return;
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
  });
  const http1 = {
    acceptHttp10: false,
    defaultHostForHttp10: '',
    allowAbsoluteUrl: true,
    enableTrailers: true,
    allowChunkedLength: false,
    headerCase: 'lower',
  } as const;
  await using plane = await startDataPlane({
    upstreamPorts: [upstream.port],
    manager: { underscoresInHeaders, http1, delayedCloseTimeoutMs: 1 },
    upstreamHttp: {
      http1: { enableTrailers: true, allowChunkedLength: false, headerCase: 'lower' },
    },
  });
  const statuses: string[] = [];
  for (const request of [IN_HEAD, IN_TRAILERS]) {
    const client = await openRaw(plane.port);
    client.send(request);
    statuses.push((await client.until('\r\n\r\n')).split(' ')[1] ?? '');
    client.destroy();
  }
  return { statuses, stats: plane.stats(), received: upstream.received.join('') };
}

describe('underscores in names', () => {
  it('are refused and counted', async () => {
    const { statuses, stats } = await send('REJECT_REQUEST');
    assert.deepEqual(statuses, ['400', '400']);
    assert.equal(stats.get('http1.requests_rejected_with_underscores_in_headers'), 2);
    assert.equal(stats.get('http1.dropped_headers_with_underscores') ?? 0, 0);
    assert.equal(stats.get('http.web.downstream_cx_protocol_error'), 2);
  });

  it('are dropped and counted', async () => {
    const { statuses, stats, received } = await send('DROP_HEADER');
    assert.deepEqual(statuses, ['200', '200']);
    assert.equal(stats.get('http1.dropped_headers_with_underscores'), 4);
    assert.equal(stats.get('http1.requests_rejected_with_underscores_in_headers') ?? 0, 0);
    assert.doesNotMatch(received, /a_b|c_d|t_r/);
  });
});
