/** When a transport writes: at the end of each event, or of the loop's turn where it gathers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { systemClock } from '../../../../shared/process/clock.ts';
import { WorkerLoop } from '../../../../workers/loop/worker-loop.ts';
import type { ByteStream } from '../../../../workers/net/byte-stream.ts';
import { Transport } from '../../../../workers/net/transport.ts';

describe('writes of a transport', () => {
  it('leave at the end of each event', () => {
    const { loop, transport, calls } = start();
    loop.run(undefined, () => transport.writeText('one '));
    loop.run(undefined, () => transport.writeText('two'));
    assert.deepEqual(calls, ['write one ', 'write two']);
  });

  it('leave together at the end of the turn where it gathers', async () => {
    const { loop, transport, calls } = start();
    transport.gatherTurns();
    loop.run(undefined, () => transport.writeText('one '));
    loop.run(undefined, () => transport.writeData(Buffer.from('two')));
    assert.deepEqual(calls, []);
    await turnEnd();
    assert.deepEqual(calls, ['write one two']);
    loop.run(undefined, () => transport.writeText('three'));
    await turnEnd();
    assert.deepEqual(calls, ['write one two', 'write three']);
  });

  it('leave before the turn ends when they are large', () => {
    const { loop, transport, calls } = start();
    transport.gatherTurns();
    const text = 'x'.repeat(10_000);
    for (let round = 0; round < 3; round++) loop.run(undefined, () => transport.writeText(text));
    assert.equal(calls.length, 2);
  });

  it('leave before the connection closes in the same turn', async () => {
    const { loop, transport, calls } = start();
    transport.gatherTurns();
    loop.run(undefined, () => transport.writeText('last'));
    loop.run(undefined, () => transport.close());
    await turnEnd();
    assert.deepEqual(calls, ['write last', 'close']);
    assert.equal(transport.bytesWritten, 4);
  });

  it('leave when the peer ends in the same turn, and not when the connection broke', async () => {
    for (const error of [undefined, new Error('broken')]) {
      const { loop, transport, calls } = start();
      transport.gatherTurns();
      loop.run(undefined, () => transport.writeText('last'));
      transport.onStreamClose(error);
      await turnEnd();
      assert.deepEqual(calls, error === undefined ? ['write last', 'close'] : ['close']);
    }
  });

  it('of one connection fail alone', async () => {
    const notes: unknown[] = [];
    const loop = new WorkerLoop(systemClock, undefined, { note: (error) => notes.push(error) });
    const broken = start(loop, () => {
      throw new Error('no more');
    });
    const sound = start(loop);
    for (const { transport } of [broken, sound]) {
      transport.gatherTurns();
      loop.run(undefined, () => transport.writeText('text'));
    }
    await turnEnd();
    assert.deepEqual(sound.calls, ['write text']);
    assert.deepEqual(broken.calls, ['reset']);
    assert.equal(notes.length, 1);
  });
});

interface Started {
  readonly loop: WorkerLoop;
  readonly transport: Transport;
  /** What the stream was asked for. */
  readonly calls: readonly string[];
}

function start(loop = new WorkerLoop(systemClock), onWrite: () => void = () => undefined): Started {
  const calls: string[] = [];
  const handler = {
    onConnect: () => undefined,
    onData: () => undefined,
    onRemoteClose: () => undefined,
    onWriteBlocked: () => undefined,
  };
  const stream: ByteStream = {
    pendingBytes: 0,
    writeText: (text) => {
      onWrite();
      calls.push(`write ${text}`);
      return true;
    },
    writeBlock: (data, onWritten) => {
      calls.push(`write ${Buffer.from(data).toString('latin1')}`);
      onWritten();
      return true;
    },
    pause: () => undefined,
    resume: () => undefined,
    keepHalfOpen: () => undefined,
    end: () => undefined,
    closeAfterWrites: () => undefined,
    close: () => calls.push('close'),
    reset: () => calls.push('reset'),
  };
  const transport = Transport.over({ loop, handler, counters: undefined }, () => stream);
  return { loop, transport, calls };
}
