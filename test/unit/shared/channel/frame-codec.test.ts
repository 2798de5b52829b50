/** Frames of the channel between supervisor and workers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  FRAME_BYTES_MAX,
  FrameDecoder,
  FrameEncoder,
  MESSAGE_BYTES_MAX,
} from '../../../../shared/channel/frame-codec.ts';

describe('the frame codec', () => {
  it('returns every message unchanged, however the stream is cut', () => {
    const value = fc.oneof(
      fc.integer(),
      // Whole numbers travel as integers, which have no negative zero.
      fc.double({ noNaN: true }).filter((number) => !Object.is(number, -0)),
      fc.string(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.boolean(),
      fc.array(fc.integer()),
      fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.integer(), { noNullPrototype: true }),
    );
    const message = fc.record(
      { kind: fc.string(), id: fc.nat(), value },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.nat(40)), (messages, cuts) => {
        const encoder = new FrameEncoder();
        const stream = Buffer.concat(messages.flatMap((one) => [...encoder.encode(one)]));
        const decoder = new FrameDecoder();
        const received: unknown[] = [];
        let at = 0;
        for (const cut of cuts) {
          received.push(...decoder.push(stream.subarray(at, at + cut)));
          at += cut;
        }
        received.push(...decoder.push(stream.subarray(at)));
        assert.deepEqual(received, messages);
      }),
    );
  });

  it('keeps nanoseconds as bigint', () => {
    const [message] = roundTrip({ kind: 'drain', startedAtNs: 5n, later: 2n ** 62n });
    assert.deepEqual(message, { kind: 'drain', startedAtNs: 5n, later: 2n ** 62n });
  });

  it('cuts a large message into frames of at most 1 MiB', () => {
    const message = { kind: 'apply', text: 'x'.repeat(3 * FRAME_BYTES_MAX) };
    const buffers = new FrameEncoder().encode(message);
    const frames = buffers.filter((_, position) => position % 2 === 1);
    assert.equal(frames.length, 4);
    assert.ok(frames.every((frame) => frame.length <= FRAME_BYTES_MAX));
    assert.deepEqual(new FrameDecoder().push(Buffer.concat(buffers)), [message]);
  });

  it('refuses a message above the limit before anything is sent', () => {
    const message = { kind: 'apply', text: 'x'.repeat(MESSAGE_BYTES_MAX) };
    assert.throws(() => new FrameEncoder().encode(message), { code: 'message_too_long' });
  });

  it('refuses a stream that no encoder wrote', () => {
    const tooLong = Buffer.from([0xff, 0xff, 0xff, 0x7f]);
    assert.throws(() => new FrameDecoder().push(tooLong), { code: 'frame_too_long' });
    const malformed = Buffer.from([1, 0, 0, 0, 0xa5]);
    assert.throws(() => new FrameDecoder().push(malformed), { code: 'malformed_message' });
  });

  it('refuses a message whose frames never end', () => {
    const frame = Buffer.alloc(4 + FRAME_BYTES_MAX);
    frame.writeUInt32LE((FRAME_BYTES_MAX | 0x80000000) >>> 0, 0);
    const decoder = new FrameDecoder();
    assert.throws(
      () => {
        for (let count = 0; count < 20; count += 1) decoder.push(frame);
      },
      { code: 'message_too_long' },
    );
  });
});

function roundTrip(message: object): unknown[] {
  return new FrameDecoder().push(Buffer.concat([...new FrameEncoder().encode(message)]));
}
