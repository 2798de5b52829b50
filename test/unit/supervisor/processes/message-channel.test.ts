/** The channel between supervisor and workers over a real socket pair. */
import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import {
  MessageChannel,
  QUEUE_BYTES_MAX,
  type AnyMessage,
} from '../../../../shared/channel/message-channel.ts';
import { PendingCalls } from '../../../../supervisor/processes/pending-calls.ts';
import { systemClock } from '../../../../shared/process/clock.ts';

interface Text extends AnyMessage {
  readonly text: string;
}

describe('a message channel', () => {
  it('delivers messages in order in both directions and says when the other end is gone', async () => {
    await using pair = await makePair();
    const received: Text[] = [];
    const closed = new Promise<Error | undefined>((resolve) => {
      const right = new MessageChannel<Text, Text>(pair.right, {
        message: (message) => {
          received.push(message);
          right.post({ kind: 'echo', text: message.text });
        },
        closed: resolve,
      });
    });
    const echoed: string[] = [];
    const left = new MessageChannel<Text, Text>(pair.left, {
      message: (message) => {
        echoed.push(message.text);
        if (echoed.length === 3) void left.end();
      },
      closed: () => undefined,
    });
    for (const text of ['one', 'two', 'x'.repeat(2_000_000)]) left.post({ kind: 'say', text });
    assert.equal(await closed, undefined);
    assert.deepEqual(
      received.map(({ text }) => text.length),
      [3, 3, 2_000_000],
    );
    assert.deepEqual(echoed.length, 3);
    assert.throws(() => left.post({ kind: 'say', text: '' }), { code: 'channel_closed' });
  });

  it('refuses what would wait beyond the queue limit, and tells when it has drained', async () => {
    await using pair = await makePair();
    pair.right.pause();
    const left = new MessageChannel<Text, Text>(pair.left, {
      message: () => undefined,
      closed: () => undefined,
    });
    const text = 'x'.repeat(1_000_000);
    assert.throws(
      () => {
        for (let count = 0; count < 40; count += 1) left.post({ kind: 'say', text });
      },
      { code: 'channel_full' },
    );
    assert.ok(left.isCongested && left.queuedBytes < QUEUE_BYTES_MAX + 2_000_000);
    pair.right.resume();
    await left.drained();
    assert.equal(left.isCongested, false);
    left.post({ kind: 'say', text: 'again' });
  });

  it('ends with the error when the other end does not speak the protocol', async () => {
    await using pair = await makePair();
    const closed = new Promise<Error | undefined>((resolve) => {
      new MessageChannel<Text, Text>(pair.left, { message: () => undefined, closed: resolve });
    });
    pair.right.write('HTTP/1.1 400 Bad Request\r\n');
    const error = await closed;
    assert.match(String(error), /frame/);
  });
});

describe('pending calls', () => {
  it('are settled by their id, once', async () => {
    const calls = new PendingCalls<string>(systemClock);
    const first = calls.open('ping', 1000);
    const second = calls.open('ping', 1000);
    assert.ok(calls.settle(second.id, 'b') && calls.settle(first.id, 'a'));
    assert.equal(calls.settle(first.id, 'again'), false);
    assert.deepEqual(await Promise.all([first.reply, second.reply]), ['a', 'b']);
  });

  it('are settled by an answer that came in time while nobody could read it', async () => {
    await using pair = await makePair();
    const calls = new PendingCalls<string>(systemClock);
    const call = calls.open('flush_stats', 20);
    new MessageChannel<Text, Text>(pair.left, {
      message: ({ text }) => void calls.settle(call.id, text),
      closed: () => undefined,
    });
    const right = new MessageChannel<Text, Text>(pair.right, {
      message: () => undefined,
      closed: () => undefined,
    });
    right.post({ kind: 'stats', text: 'in time' });
    await right.drained();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 40);
    assert.equal(await call.reply, 'in time');
  });

  it('reject at their deadline and when the process is gone', async () => {
    const calls = new PendingCalls<string>(systemClock);
    await assert.rejects(calls.open('flush_stats', 1).reply, {
      code: 'deadline_exceeded',
      message: 'no answer to flush_stats within 1 ms',
    });
    const open = calls.open('apply', 1000);
    calls.rejectAll('the worker ended');
    await assert.rejects(open.reply, {
      code: 'process_exited',
      message: 'no answer to apply: the worker ended',
    });
  });
});

interface Pair extends AsyncDisposable {
  readonly left: Socket;
  readonly right: Socket;
}

async function makePair(): Promise<Pair> {
  const path = `\0sluice-channel-${process.pid}-${process.hrtime.bigint()}`;
  const server = createServer().listen(path);
  await once(server, 'listening');
  const left = connect(path);
  const [right] = (await once(server, 'connection')) as [Socket];
  return {
    left,
    right,
    [Symbol.asyncDispose]: async () => {
      left.destroy();
      right.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
