/** Hosts of HTTP/2 that break the protocol: what they are told, what clients see, what counts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fetchOnce } from '../../support/peers/http-client.ts';
import {
  frame,
  headerBlock,
  SETTINGS,
  startRawHttp2Upstream,
  words,
} from '../../support/peers/http2.ts';
import { isQuiet, proxyToHttp2 } from '../../support/programs/http2-upstreams.ts';

const GOAWAY = 7;
const OK = headerBlock([[':status', '200']]);

function setting(id: number, value: number): Buffer {
  return frame(4, 0, 0, Buffer.concat([Buffer.of(0, id), words(value)]));
}

/** What the host answers a request, and the code and text of the GOAWAY that it gets for it. */
const FAULTS: readonly (readonly [string, Buffer, (readonly [number, string])?])[] = [
  ['DATA on stream 0', frame(0, 0, 0, Buffer.from('x')), [1, 'DATA: stream_id == 0']],
  ['DATA on an idle stream', frame(0, 0, 9, Buffer.from('x')), [1, 'DATA: stream in idle']],
  ['DATA before the head', frame(0, 0, 1, Buffer.from('x')), [1, 'DATA: stream not opened']],
  ['a field of no table', frame(1, 4, 1, Buffer.of(0xff, 0xff, 0xff)), [9, '']],
  ['too long a frame', frame(0, 0, 1, Buffer.alloc(16_385)), [6, 'too large frame size']],
  ['push switched on', setting(2, 1)],
  ['extended CONNECT taken back', Buffer.concat([setting(8, 1), setting(8, 0)])],
  ['another word on priorities', Buffer.concat([setting(9, 1), setting(9, 0)])],
];

describe('a host of HTTP/2 that breaks the protocol', () => {
  for (const [title, fault, told] of FAULTS) {
    it(`loses its connection, and is told why where Envoy tells: ${title}`, async () => {
      const goaways: Buffer[] = [];
      await using upstream = await startRawHttp2Upstream((host, { type, payload }) => {
        if (type === 4 && host.frames.length === 1) host.send(SETTINGS);
        if (type === 1) host.send(fault, frame(1, 5, 1, OK));
        if (type === GOAWAY) goaways.push(payload);
      });
      await using sluice = await proxyToHttp2(upstream.port);
      assert.equal((await fetchOnce({ port: sluice.port })).status, 502);
      assert.equal(await sluice.stat('cluster.up.upstream_cx_protocol_error'), 1);
      await isQuiet(sluice);
      const said = goaways.map((each) => [each.readUInt32BE(4), each.toString('latin1', 8)]);
      assert.deepEqual(said, told === undefined ? [] : [told]);
    });
  }

  it('resets that stream as it seems where its head has too many fields', async () => {
    const fields = Array.from({ length: 120 }, (_, at) => [`x-${at}`, '1'] as const);
    await using upstream = await startRawHttp2Upstream((host, { type, stream }) => {
      if (type === 4 && host.frames.length === 1) host.send(SETTINGS);
      if (type === 1) host.send(frame(1, 5, stream, headerBlock([[':status', '200'], ...fields])));
    });
    await using sluice = await proxyToHttp2(upstream.port);
    assert.equal((await fetchOnce({ port: sluice.port })).status, 503);
    assert.equal(await sluice.stat('cluster.up.http2.tx_reset'), 1);
    assert.equal(await sluice.stat('cluster.up.upstream_rq_rx_reset'), 1);
    assert.equal(await sluice.stat('cluster.up.upstream_rq_tx_reset'), 0);
    await isQuiet(sluice);
  });

  it('keeps its connection where late frames of ended streams come', async () => {
    await using upstream = await startRawHttp2Upstream((host, { type, stream }) => {
      if (type === 4 && host.frames.length === 1) host.send(SETTINGS);
      if (type === 1) host.send(frame(1, 5, stream, OK), frame(0, 0, stream, Buffer.from('late')));
      if (type === 1) host.send(frame(1, 5, stream, OK));
    });
    await using sluice = await proxyToHttp2(upstream.port);
    for (let count = 0; count < 3; count += 1) {
      assert.equal((await fetchOnce({ port: sluice.port })).status, 200);
    }
    assert.equal(await sluice.stat('cluster.up.upstream_cx_total'), 1);
    await isQuiet(sluice);
  });

  it('that resets a stream for a fault in the protocol is answered for with 502', async () => {
    await using upstream = await startRawHttp2Upstream((host, { type, stream }) => {
      if (type === 4 && host.frames.length === 1) host.send(SETTINGS);
      if (type === 1) host.send(frame(3, 0, stream, words(1)));
    });
    await using sluice = await proxyToHttp2(upstream.port);
    assert.equal((await fetchOnce({ port: sluice.port })).status, 502);
    assert.equal(await sluice.stat('cluster.up.http2.rx_reset'), 1);
    assert.equal(await sluice.stat('cluster.up.upstream_rq_tx_reset'), 1);
    assert.equal(await sluice.stat('cluster.up.upstream_rq_rx_reset'), 0);
    await isQuiet(sluice);
  });
});
