/** Chunks of every size, read in every way: the same body, in as few pieces as reads. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ChunkedDecoder } from '../../../../workers/http1/chunked-decoder.ts';
import { attackParameters } from '../../../support/attack.ts';

const HEADER_BYTES = 1000;
/** Larger chunks are handed on by themselves. */
const OWN_BYTES = 4096;

function decoded(reads: readonly Buffer[]): { readonly body: Buffer; readonly pieces: number[] } {
  const pieces: Buffer[] = [];
  const decoder = new ChunkedDecoder({ onBody: (piece) => void pieces.push(Buffer.from(piece)) });
  decoder.reset(HEADER_BYTES);
  const counts = reads.map((read) => {
    const before = pieces.length;
    assert.equal(decoder.decode(read, 0, read.length), read.length);
    return pieces.length - before;
  });
  assert.equal(decoder.error, undefined);
  assert.equal(decoder.isDone, true);
  return { body: Buffer.concat(pieces), pieces: counts };
}

const size = fc.oneof(
  fc.integer({ min: 1, max: 3 }),
  fc.nat(100),
  fc.integer({ min: 4000, max: 9000 }),
);

describe('chunks', () => {
  it('make one body, however they are cut', () => {
    fc.assert(
      fc.property(
        fc.array(size, { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 5000 }), { maxLength: 12 }),
        fc.boolean(),
        (sizes, cuts, hasExtensions) => {
          const chunks = sizes
            .filter((each) => each > 0)
            .map((each, at) => Buffer.alloc(each, String.fromCharCode(97 + (at % 26))));
          const extension = hasExtensions ? ';a=b' : '';
          const text = Buffer.concat([
            ...chunks.flatMap((each) => [
              Buffer.from(`${each.length.toString(16)}${extension}\r\n`),
              each,
              Buffer.from('\r\n'),
            ]),
            Buffer.from('0\r\n\r\n'),
          ]);
          const reads: Buffer[] = [];
          let at = 0;
          for (const cut of cuts) {
            if (at + cut >= text.length) break;
            reads.push(Buffer.from(text.subarray(at, (at += cut))));
          }
          reads.push(Buffer.from(text.subarray(at)));
          const { body, pieces } = decoded(reads);
          assert.deepEqual(body, Buffer.concat(chunks));
          const large = chunks.filter((each) => each.length >= OWN_BYTES).length;
          for (const [read, count] of pieces.entries()) {
            assert.ok(count <= 1 + large, `${count} pieces in read ${read}`);
          }
        },
      ),
      attackParameters(300, 20_000),
    );
  });

  it('of a byte are one piece for each read', () => {
    const text = Buffer.from(`${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`);
    const { body, pieces } = decoded([text]);
    assert.equal(body.toString(), 'x'.repeat(10_000));
    assert.deepEqual(pieces, [1]);
  });
});
