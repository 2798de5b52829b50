/** Streams that wait for windows: what goes on when one opens, and what it costs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FrameWriter } from '../../../../workers/http2/frame-writer.ts';
import { FRAME_HEADER_BYTES } from '../../../../workers/http2/frames.ts';
import { Http2Stream, type StreamUser } from '../../../../workers/http2/http2-stream.ts';
import type { Wire } from '../../../../workers/net/wire.ts';

const user: StreamUser = {
  onData: () => undefined,
  onHeaders: () => undefined,
  onReset: () => undefined,
  onWriteBlocked: () => undefined,
  onClosed: () => undefined,
};

/** A writer, and for each DATA frame that left its stream and its length. */
function makeWriter(): { writer: FrameWriter; sent: () => string } {
  const frames: string[] = [];
  const wire: Pick<Wire, 'writeText' | 'writeData'> = {
    writeText: (text) => {
      const bytes = Buffer.from(text.slice(0, FRAME_HEADER_BYTES), 'latin1');
      frames.push(`${bytes.readUInt32BE(5)}:${bytes.readUIntBE(0, 3)}`);
    },
    writeData: () => undefined,
  };
  const user = {
    flood: () => assert.fail('a flood'),
    localEnded: () => undefined,
    onDataFrame: () => undefined,
  };
  const writer = new FrameWriter(
    wire as Wire,
    user,
    {
      streamBufferBytes: 1 << 20,
      usesHuffman: false,
      maxOutboundFrames: 1 << 20,
      maxOutboundControlFrames: 1 << 20,
    },
    { change: () => undefined },
  );
  return { writer, sent: () => frames.splice(0).join(' ') };
}

function open(writer: FrameWriter, id: number, stream: Http2Stream): void {
  stream.sendWindow.add(id);
  writer.streamWindowOpened(stream);
  writer.drain();
}

describe('streams that wait for windows', () => {
  it('go on when their own opens, a frame each in turn when that of the connection does', () => {
    const { writer, sent } = makeWriter();
    const [one, two] = [new Http2Stream(1, user, 0, 0), new Http2Stream(3, user, 0, 0)];
    for (const stream of [one, two]) writer.data(stream, Buffer.alloc(40_000), false);
    open(writer, 10, one);
    open(writer, 20, two);
    assert.equal(sent(), '1:10 3:20');
    writer.window.take(writer.window.left);
    for (const stream of [one, two]) open(writer, 39_000, stream);
    assert.equal(sent(), '');
    writer.window.add(60_000);
    writer.drain();
    assert.equal(sent(), '1:16384 3:16384 1:16384 3:10848');
  });

  it('cost nothing while theirs is shut and another one opens byte by byte', () => {
    const { writer, sent } = makeWriter();
    let looks = 0;
    for (let id = 3; id < 2003; id += 2) {
      const stream = new Http2Stream(id, user, 0, 0);
      const left = (): number => {
        looks++;
        return 0;
      };
      Object.defineProperty(stream.sendWindow, 'left', { get: left });
      writer.data(stream, Buffer.from('x'), true);
    }
    const slow = new Http2Stream(1, user, 0, 0);
    writer.data(slow, Buffer.alloc(1000), false);
    looks = 0;
    for (let count = 0; count < 500; count++) open(writer, 1, slow);
    assert.equal(sent(), Array.from({ length: 500 }, () => '1:1').join(' '));
    assert.equal(looks, 0);
  });
});
