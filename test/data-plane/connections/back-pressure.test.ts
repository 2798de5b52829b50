/** How connections of clients live and end: refusals, timeouts, draining, aborts, back-pressure. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream, startRawUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';
import { allGaugesAreZero } from './all-gauges.ts';

const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

describe('back-pressure', () => {
  const LIMIT = 64 * 1024;
  const TOTAL = 32 * 1024 * 1024;
  /** What the kernel may hold on loopback in both sockets, and what the proxy may. */
  const SLACK = 16 * 1024 * 1024;

  it('stops a client whose upstream does not read, and loses nothing', async () => {
    const sockets: Socket[] = [];
    let received = 0;
    await using upstream = await startRawUpstream((socket) => {
      sockets.push(socket);
      socket.pause();
      socket.removeAllListeners('data');
      socket.on('data', (piece) => {
        received += piece.length;
        if (received > TOTAL && !socket.writableEnded)
          socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
      socket.pause();
    });
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      cluster: { perConnectionBufferLimitBytes: LIMIT },
      listener: { perConnectionBufferLimitBytes: LIMIT },
    });
    const client = await openRaw(plane.port);
    client.send(`POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ${TOTAL}\r\n\r\n`);
    client.send(Buffer.alloc(TOTAL, 0x78));
    await waitUntil('reading stopped', () => {
      return (plane.stats().get('http.web.downstream_flow_control_paused_reading_total') ?? 0) > 0;
    });
    assert.ok((plane.stats().get('http.web.downstream_cx_rx_bytes_total') ?? 0) < SLACK);
    const socket = await waitUntil('the connection upstream', () => sockets[0]);
    socket.resume();
    await client.until(/ok$/);
    const stats = plane.stats();
    assert.equal(
      stats.get('http.web.downstream_flow_control_paused_reading_total'),
      stats.get('http.web.downstream_flow_control_resumed_reading_total'),
    );
    client.destroy();
  });

  it('stops an upstream whose client does not read, and loses nothing', async () => {
    await using upstream = await startHttpUpstream((_, response) =>
      response.end(Buffer.alloc(TOTAL, 0x78)),
    );
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      cluster: { perConnectionBufferLimitBytes: LIMIT },
      listener: { perConnectionBufferLimitBytes: LIMIT },
    });
    const client = await openRaw(plane.port);
    let received = 0;
    client.socket.removeAllListeners('data');
    client.socket.on('data', (piece) => (received += piece.length));
    client.socket.pause();
    client.send(GET);
    await waitUntil('reading stopped', () => {
      return (plane.stats().get('cluster.up.upstream_flow_control_paused_reading_total') ?? 0) > 0;
    });
    assert.ok((plane.stats().get('cluster.up.upstream_cx_rx_bytes_total') ?? 0) < SLACK);
    client.socket.resume();
    await waitUntil('the whole answer', () => received > TOTAL);
    client.destroy();
    await allGaugesAreZero(plane);
  });
});
