/** Answers of a quota service that are none: read as actions or refused, never a throw. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import { readActions } from '../../../workers/filters/http/rate-limit-quota/quota-messages.ts';
import { attackParameters } from '../../support/attack.ts';

function answer(max: number, perFill: number, seconds: number): Buffer {
  const writer = new ProtoWriter();
  writer.message(1, () => {
    writer.message(1, () => writer.textPair(1, 'key', 'value'));
    writer.message(2, () => {
      writer.message(2, () => writer.integer(1, seconds));
      writer.message(3, () =>
        writer.message(3, () => {
          writer.integer(1, max);
          writer.message(2, () => writer.integer(1, perFill));
          writer.message(3, () => writer.integer(1, seconds));
        }),
      );
    });
  });
  return Buffer.from(writer.finish());
}

it('reads any limit as one that can be kept', () => {
  const number = fc.nat(2 ** 32 - 1);
  fc.assert(
    fc.property(number, number, number, (max, perFill, seconds) => {
      const [action] = readActions(answer(max, perFill, seconds)) ?? [];
      assert.equal(action?.kind, 'assign');
      if (action?.kind !== 'assign') return;
      const isNone = max === 0 || perFill === 0 || seconds === 0;
      assert.equal(action.strategy.kind, isNone ? 'deny' : 'tokens');
      assert.equal(action.ttlMs, seconds * 1000);
    }),
    { ...attackParameters(500, 100_000), examples: [[1, 0, 1]] },
  );
});

it('takes changed bytes for actions with sane numbers, or for no message', () => {
  const whole = answer(3, 1, 60);
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.uint8Array({ maxLength: 6 }), (at, bytes) => {
      const changed = Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at + 1)]);
      for (const action of readActions(changed) ?? []) {
        if (action.kind !== 'assign') continue;
        assert.ok(action.ttlMs >= 0 && Number.isFinite(action.ttlMs));
        const { strategy } = action;
        if (strategy.kind !== 'tokens') continue;
        const { maxTokens, tokensPerFill, fillIntervalMs } = strategy;
        assert.ok(maxTokens > 0 && tokensPerFill > 0 && fillIntervalMs > 0);
      }
    }),
    attackParameters(2000, 100_000),
  );
});
