/** What a connection knows of its streams' numbers, beside a plain model of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Http2Stream, type StreamUser } from '../../../../workers/http2/http2-stream.ts';
import { type StreamState, StreamTable } from '../../../../workers/http2/stream-table.ts';

const REMEMBERED = 128;
const idOf = (at: number): number => 1 + 2 * at;

interface Ended {
  readonly id: number;
  readonly wasReset: boolean;
}

/** The same in so many words. */
function expectedState(id: number, last: number, open: Set<number>, ended: Ended[]): StreamState {
  if (id > last) return 'idle';
  if (open.has(id)) return 'open';
  const found = ended.slice(-REMEMBERED).find((each) => each.id === id);
  if (found !== undefined) return found.wasReset ? 'left' : 'closed';
  const forgotten = ended.slice(0, -REMEMBERED).map((each) => each.id);
  return id <= Math.max(0, ...forgotten) ? 'forgotten' : 'skipped';
}

describe('the streams of a connection', () => {
  it('are known by number as long as a client may send for them', () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ opens: fc.integer({ min: 1, max: 40 }), skips: fc.nat({ max: 2 }) }),
        fc.record({ ends: fc.integer({ min: 1, max: 40 }), reset: fc.boolean(), at: fc.nat() }),
      ),
      { minLength: 10, maxLength: 40 },
    );
    fc.assert(
      fc.property(steps, (list) => {
        const table = new StreamTable(true);
        const open = new Set<number>();
        const ended: Ended[] = [];
        let next = 0;
        for (const step of list) {
          if ('opens' in step) {
            next += step.skips;
            for (let count = 0; count < step.opens; count++) {
              const id = idOf(next++);
              table.lastPeerStream = id;
              table.open.add(new Http2Stream(id, {} as StreamUser, 100, 100));
              open.add(id);
            }
          } else {
            for (let count = 0; count < step.ends && open.size > 0; count++) {
              const id = [...open][step.at % open.size] ?? 0;
              open.delete(id);
              table.open.delete(id);
              table.remember(id, step.reset);
              ended.push({ id, wasReset: step.reset });
            }
          }
          assert.deepEqual(
            table.open.all().map(({ id }) => id),
            [...open],
          );
          for (let at = 0; at <= next; at++) {
            const id = idOf(at);
            const wanted = expectedState(id, table.lastPeerStream, open, ended);
            assert.equal(table.stateOf(id), wanted, `stream ${id}`);
          }
        }
        assert.equal(table.stateOf(0), 'idle');
        assert.equal(table.stateOf(2), 'idle');
      }),
      { numRuns: 30 },
    );
  });
});
