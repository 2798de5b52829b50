/** METADATA, Envoy's own frame, between HTTP/2 clients and hosts: the whole program. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  dataFrame,
  framesOf,
  GET,
  headersFrame,
  openFrames,
} from '../../support/peers/http2-client.ts';
import {
  frame,
  headerBlock,
  type RawHost,
  SETTINGS,
  startRawHttp2Upstream,
} from '../../support/peers/http2.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { http2, proxyToHttp2 } from '../../support/programs/http2-upstreams.ts';
import { waitUntil } from '../../support/wait.ts';

const METADATA = 0x4d;
const END = 4;
const END_STREAM = 1;
const ALLOWED = { allow_metadata: true };
const manager = { http2_protocol_options: ALLOWED };

/** A host that answers a whole request with metadata around its headers. */
function answering(
  host: RawHost,
  { type, flags, stream }: { type: number; flags: number; stream: number },
): void {
  if (type === 4 && flags === 0) host.send(SETTINGS);
  if ((type !== 0 && type !== 1) || (flags & END_STREAM) === 0) return;
  host.send(
    frame(METADATA, END, stream, headerBlock([['before', '1']])),
    frame(1, 4, stream, headerBlock([[':status', '200']])),
    frame(METADATA, END, stream, headerBlock([['after', '2']])),
    frame(0, END_STREAM, stream, Buffer.from('ok')),
  );
}

const metadataOf = (
  frames: readonly { readonly type: number; readonly payload: Buffer }[],
): string[] =>
  frames.filter(({ type }) => type === METADATA).map(({ payload }) => payload.toString('latin1'));

const sent = (...fields: readonly (readonly [string, string])[]): string =>
  headerBlock(fields).toString('latin1');

function metadata(stream: number, block: Buffer, flags = END): string {
  return frame(METADATA, flags, stream, block).toString('latin1');
}

describe('METADATA', () => {
  it('passes both ways, whole or in pieces', async () => {
    await using upstream = await startRawHttp2Upstream(answering);
    await using sluice = await proxyToHttp2(upstream.port, {
      hcm: manager,
      cluster: http2(ALLOWED),
    });
    const client = await openFrames(sluice.port);
    const block = headerBlock([
      ['a', '1'],
      ['b', '2'],
    ]);
    client.send(
      headersFrame(1, GET, 0) +
        metadata(1, headerBlock([['whole', 'x']])) +
        metadata(1, block.subarray(0, 3), 0) +
        metadata(1, block.subarray(3)) +
        dataFrame(1, 'body', END_STREAM),
    );
    const text = await client.until((seen) =>
      framesOf(seen).some(({ type, flags }) => type === 0 && (flags & END_STREAM) !== 0),
    );
    client.destroy();
    const seen = upstream.hosts[0]?.frames ?? [];
    assert.deepEqual(metadataOf(seen), [sent(['whole', 'x']), sent(['a', '1'], ['b', '2'])]);
    const answer = framesOf(text).filter(({ stream }) => stream === 1);
    assert.deepEqual(metadataOf(answer), [sent(['before', '1']), sent(['after', '2'])]);
    assert.deepEqual(
      answer.map(({ type }) => type),
      [METADATA, 1, METADATA, 0],
    );
  });

  it('is an unknown frame where it is not allowed', async () => {
    await using upstream = await startRawHttp2Upstream(answering);
    await using sluice = await proxyToHttp2(upstream.port);
    const client = await openFrames(sluice.port);
    client.send(
      headersFrame(1, GET, 0) +
        metadata(1, Buffer.from('\xff\xff', 'latin1')) +
        dataFrame(1, '', END_STREAM),
    );
    const text = await client.until((seen) =>
      framesOf(seen).some(({ type, flags }) => type === 0 && (flags & END_STREAM) !== 0),
    );
    client.destroy();
    assert.deepEqual(metadataOf(framesOf(text)), []);
    assert.deepEqual(metadataOf(upstream.hosts[0]?.frames ?? []), []);
  });

  it('is counted where it is empty, and where a host of HTTP/1 cannot have it', async () => {
    await using upstream = await startHttpUpstream();
    await using sluice = await proxyToHttp2(upstream.port, { hcm: manager, cluster: {} });
    const client = await openFrames(sluice.port);
    client.send(
      headersFrame(1, GET, 0) +
        metadata(1, Buffer.alloc(0)) +
        metadata(1, headerBlock([['a', '1']])) +
        dataFrame(1, '', END_STREAM),
    );
    await client.until((seen) => framesOf(seen).some(({ type }) => type === 1));
    client.destroy();
    assert.equal(await sluice.stat('http2.metadata_empty_frames'), 1);
    assert.equal(await sluice.stat('cluster.up.http1.metadata_not_supported_error'), 1);
  });

  for (const [title, frames] of [
    ['is no header block', metadata(1, Buffer.from('\xff\xff\xff\xff\xff\xff', 'latin1'))],
    ['is larger than allowed', metadata(1, Buffer.alloc(600), 0).repeat(2)],
  ] as const) {
    it(`ends the connection where it ${title}`, async () => {
      await using upstream = await startRawHttp2Upstream(answering);
      const limited = { http2_protocol_options: { ...ALLOWED, max_metadata_size: 1000 } };
      await using sluice = await proxyToHttp2(upstream.port, { hcm: limited });
      const client = await openFrames(sluice.port);
      client.send(headersFrame(1, GET, 0));
      await waitUntil(
        'the request',
        () => upstream.hosts[0]?.frames.some(({ type }) => type === 1) === true,
      );
      client.send(frames);
      assert.ok(!framesOf(await client.closed()).some(({ type }) => type === 7));
      assert.equal(await sluice.stat('http.web.downstream_cx_protocol_error'), 1);
    });
  }
});
