import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FrameDecoder, FrameEncoder } from '../../../../shared/channel/frame-codec.ts';
import { dictionary, joined, memberOf, structOf } from '../../../../shared/text/dictionary.ts';

const MEMBERS = Object.getOwnPropertyNames(Object.prototype);
const key = fc.oneof(fc.constantFrom(...MEMBERS, 'toJSON', 'then'), fc.string());

function recordOf(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries) as object;
}

function throughTheChannel(value: unknown): unknown {
  const decoder = new FrameDecoder();
  const messages = new FrameEncoder()
    .encode({ kind: 'test', value })
    .flatMap((buffer) => decoder.push(buffer));
  return (messages[0] as { readonly value: unknown }).value;
}

describe('a dictionary', () => {
  it('has no member that nobody put there', () => {
    for (const name of MEMBERS) {
      assert.equal(dictionary()[name], undefined, name);
      assert.equal(memberOf({}, name), undefined, name);
    }
  });

  it('keeps every key, alone and joined with another', () => {
    for (const name of MEMBERS) {
      assert.deepEqual(Object.entries(dictionary([[name, 1]])), [[name, 1]]);
      const both = joined(dictionary([[name, 1]]), dictionary([[name, 2]]));
      assert.deepEqual(Object.entries(both), [[name, 2]]);
    }
  });

  it('crosses a channel as it is, however deep and whatever its keys are', () => {
    const tree = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.integer(),
        fc.string(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(recordOf),
      ),
    })).value;
    fc.assert(
      fc.property(fc.array(fc.tuple(key, tree)).map(recordOf), (object) => {
        const struct = structOf(object);
        assert.deepEqual(throughTheChannel(struct), struct);
        assert.equal(JSON.stringify(struct), JSON.stringify(object));
      }),
    );
  });
});
