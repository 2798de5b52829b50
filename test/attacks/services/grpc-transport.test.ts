/**
 * What a control plane may send over gRPC that is endless, huge, deep, malformed or named oddly: the
 * supervisor answers its probes meanwhile, holds no more memory than its limits say, keeps the last
 * good configuration, writes no line that the control plane made up, and takes the next good answer.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergeFrames } from '../../../supervisor/services/merged-frames.ts';
import { attackRandom, attackRuns } from '../../support/attack.ts';
import { grpcMessage } from '../../support/peers/hostile/hostile-control-plane.ts';

describe('the transport of gRPC', () => {
  it('holds a message in few buffers, however small its frames are', async () => {
    await mergeFrames();
    // oxlint-disable-next-line no-restricted-imports
    const { StreamDecoder } = await import('@grpc/grpc-js/build/src/stream-decoder.js');
    const random = attackRandom(5);
    for (const largest of [1, 2, 100, 3_000, 20_000]) {
      const decoder = new StreamDecoder(-1);
      const held = decoder as unknown as { readonly readPartialMessage: readonly Buffer[] };
      const length = attackRuns(100_000, 10_000_000);
      const message = grpcMessage(Buffer.from(Array.from({ length }, (_, at) => at)));
      for (const whole of [message, message]) {
        const messages: Buffer[] = [];
        for (let at = 0; at < whole.length;) {
          const end = at + 1 + Math.floor(random() * largest);
          messages.push(...decoder.write(whole.subarray(at, end)));
          assert.ok(held.readPartialMessage.length <= 300 + length / 256, String(largest));
          at = end;
        }
        assert.equal(messages.length, 1);
        assert.ok(message.equals(messages[0] ?? Buffer.alloc(0)));
      }
    }
  });
});
