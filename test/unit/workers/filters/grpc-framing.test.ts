/** Frames of gRPC and base64 mean the same however a body is cut. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Base64Decoder, Base64Encoder } from '../../../../workers/filters/common/base64-stream.ts';
import {
  FrameCounter,
  frameHeader,
  FrameReader,
} from '../../../../workers/filters/common/grpc-frames.ts';
import { FrameTextEncoder } from '../../../../workers/filters/http/grpc/frame-text.ts';

const bytes = fc.uint8Array({ maxLength: 40 }).map((data) => Buffer.from(data));
const messages = fc.array(bytes, { maxLength: 6 });
const cuts = fc.array(fc.nat(20), { maxLength: 30 });

function pieces(whole: Buffer, lengths: readonly number[]): readonly Buffer[] {
  const cut: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    cut.push(whole.subarray(at, at + length));
    at = Math.min(whole.length, at + length);
  }
  cut.push(whole.subarray(at));
  return cut;
}

function framed(each: readonly Buffer[]): Buffer {
  return Buffer.concat(each.flatMap((data) => [frameHeader(data.length), data]));
}

describe('bodies that are cut anywhere', () => {
  it('have the same messages', () => {
    fc.assert(
      fc.property(messages, cuts, (sent, lengths) => {
        const counter = new FrameCounter();
        const reader = new FrameReader(100);
        const read: Buffer[] = [];
        for (const piece of pieces(framed(sent), lengths)) {
          counter.inspect(piece);
          read.push(...(reader.read(piece) ?? []));
        }
        assert.equal(counter.count, sent.length);
        assert.deepEqual(read, sent);
      }),
    );
  });

  it('are the same base64', () => {
    fc.assert(
      fc.property(bytes, cuts, (data, lengths) => {
        const encoder = new Base64Encoder();
        const encoded = pieces(data, lengths).map((piece) => encoder.encode(piece));
        const text = Buffer.concat([...encoded, encoder.end()]);
        assert.equal(text.toString('latin1'), data.toString('base64'));
        const decoder = new Base64Decoder();
        const decoded = pieces(text, lengths).map((piece) => decoder.decode(piece));
        assert.ok(decoded.every((piece) => piece !== undefined));
        assert.ok(decoder.isWhole);
        assert.deepEqual(Buffer.concat(decoded), data);
      }),
    );
  });

  it('are base64 frame by frame', () => {
    fc.assert(
      fc.property(messages, cuts, (sent, lengths) => {
        const encoder = new FrameTextEncoder();
        const texts = pieces(framed(sent), lengths).map((piece) => encoder.encode(piece));
        const expected = sent.map((data) => framed([data]).toString('base64')).join('');
        assert.equal(Buffer.concat(texts).toString('latin1'), expected);
      }),
    );
  });
});

describe('base64', () => {
  for (const text of ['%%%b', 'A=AA', '__--', 'QR==', 'AAB=', 'AAA\n', '====']) {
    it(`is refused: ${JSON.stringify(text)}`, () => {
      assert.equal(new Base64Decoder().decode(Buffer.from(text)), undefined);
    });
  }
});

it('a message that is larger than may be kept is refused by its header', () => {
  assert.equal(new FrameReader(10).read(frameHeader(11)), undefined);
});
