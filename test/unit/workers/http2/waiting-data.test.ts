/** Data that waits: whatever pieces it comes and goes in, and with no more memory than it has bytes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { WaitingData } from '../../../../workers/http2/flow-control.ts';

const step = fc.oneof(
  fc.record({ push: fc.nat({ max: 40_000 }) }),
  fc.record({ take: fc.nat({ max: 20_000 }) }),
);

describe('data that waits', () => {
  it('leaves in the order in which it came, whatever the pieces are', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const waiting = new WaitingData();
        let pushed = 0;
        let taken = 0;
        for (const each of steps) {
          if ('push' in each) {
            waiting.push(numbered(pushed, each.push));
            pushed += each.push;
          } else {
            const piece = waiting.take(each.take);
            assert.ok(piece.length <= each.take);
            assert.ok(piece.length > 0 || each.take === 0 || taken === pushed);
            assert.ok(piece.equals(numbered(taken, piece.length)));
            taken += piece.length;
          }
          assert.equal(waiting.bytes, pushed - taken);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('gives views that later data does not change', () => {
    const waiting = new WaitingData();
    waiting.push(Buffer.from('first'));
    const view = waiting.take(5);
    waiting.push(Buffer.from('other'));
    assert.equal(view.toString(), 'first');
    assert.equal(waiting.take(9).toString(), 'other');
  });

  it('uses its blocks over and over, whatever the length of what waits', ({ mock }) => {
    const waiting = new WaitingData();
    const allocate = mock.method(Buffer, 'allocUnsafeSlow');
    for (const length of [11_000, 20_000, 33_000, 41_000, 64_000]) {
      const data = Buffer.alloc(length);
      for (let round = 0; round < 100; round++) {
        waiting.push(data);
        while (waiting.bytes > 0) waiting.take(16_384);
      }
    }
    // Two of each size may wait at once, and one more be read.
    assert.ok(allocate.mock.callCount() <= 6, `${allocate.mock.callCount()} blocks`);
  });

  it('takes as much memory as it has bytes, and not for each byte alone', () => {
    const count = 1_000_000;
    const waiting = new WaitingData();
    const byte = Buffer.from('x');
    const before = process.memoryUsage();
    for (let at = 0; at < count; at++) waiting.push(byte);
    const after = process.memoryUsage();
    const grown = after.heapUsed + after.external - before.heapUsed - before.external;
    assert.equal(waiting.bytes, count);
    assert.ok(grown < 8 * count, `${grown} bytes for ${count}`);
    waiting.clear();
    assert.equal(waiting.take(1).length, 0);
  });
});

const PERIOD = 251;
const TEXT = Buffer.from(Array.from({ length: 41_000 }, (_, at) => at % PERIOD));

/** The bytes of an endless text from a place on. */
function numbered(from: number, length: number): Buffer {
  return TEXT.subarray(from % PERIOD, (from % PERIOD) + length);
}
