/** Groups whose members come and go: their order, and that nobody who has left is kept by them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { grownBySmallCollections } from '../../../support/peers/hostile/garbage.ts';
import { type Member, Members } from '../../../../workers/loop/members.ts';
import type { StreamUser } from '../../../../workers/http2/http2-stream.ts';
import { Http2Stream } from '../../../../workers/http2/http2-stream.ts';
import { OpenStreams } from '../../../../workers/http2/open-streams.ts';

const AT_ONCE = 64;
const ALTOGETHER = 20_000;
const PAYLOAD_BYTES = 1024;
/** The limit of what is kept of 20 MB that came and went. */
const MOST_KEPT_BYTES = 4_000_000;

class Visitor implements Member<Visitor> {
  next: Visitor | undefined = undefined;
  previous: Visitor | undefined = undefined;
  /** The payload is of the heap, so that it counts. */
  readonly payload = Array.from({ length: PAYLOAD_BYTES / 8 }, () => 0.5);
}

const user = {} as StreamUser;
const stream = (id: number): Http2Stream => new Http2Stream(id, user, 0, 0);

describe('members that come and go', () => {
  it('are in their order, as in a Map by number', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(200)), { maxLength: 600 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 9 }), (all, stride) => {
        const streams = new OpenStreams();
        const model = new Map<number, Http2Stream>();
        for (const [isNew, number] of all) {
          const id = 1 + number * 2 ** stride;
          if (isNew && !model.has(id)) {
            const added = stream(id);
            model.set(id, added);
            streams.add(added);
          } else {
            model.delete(id);
            streams.delete(id);
          }
          assert.equal(streams.get(id), model.get(id));
          assert.equal(streams.size, model.size);
        }
        assert.deepEqual(
          streams.all().map(({ id }) => id),
          [...model.keys()],
        );
        for (const [id, each] of model) assert.equal(streams.get(id), each);
      }),
    );
  });

  it('leave once, and lead nowhere then', () => {
    const group = new Members<Visitor>();
    const [first, second] = [new Visitor(), new Visitor()];
    group.add(first);
    assert.equal(group.remove(second), false);
    group.add(second);
    assert.equal(group.remove(first), true);
    assert.equal(group.remove(first), false);
    assert.equal(first.next, undefined);
    assert.deepEqual(group.all(), [second]);
  });

  it('are garbage that small collections take', () => {
    const group = new Members<Visitor>();
    const grown = grownBySmallCollections(ALTOGETHER, () => {
      group.add(new Visitor());
      if (group.size > AT_ONCE && group.first !== undefined) group.remove(group.first);
    });
    assert.ok(grown < MOST_KEPT_BYTES, `${grown} bytes kept`);
  });

  it('are so as open streams', () => {
    const streams = new OpenStreams();
    let id = 1;
    const grown = grownBySmallCollections(ALTOGETHER, () => {
      const visitor = new Visitor() as unknown as StreamUser;
      streams.add(new Http2Stream((id += 2), visitor, 0, 0));
      if (streams.size > AT_ONCE) streams.delete(id - 2 * AT_ONCE);
    });
    assert.ok(grown < MOST_KEPT_BYTES, `${grown} bytes kept`);
  });
});
