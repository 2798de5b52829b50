/** When a transport writes: at the end of the loop's turn. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { systemClock } from '../../../../shared/process/clock.ts';
import { WorkerLoop } from '../../../../workers/loop/worker-loop.ts';
import type { ByteStream } from '../../../../workers/net/byte-stream.ts';
import { Transport } from '../../../../workers/net/transport.ts';

describe('writes of a transport', () => {
  for (const gathers of [false, true]) {
    it(`leave together at the end of the turn, gathered in blocks: ${gathers}`, async () => {
      const { loop, transport, calls } = start();
      if (gathers) transport.gatherTurns();
      loop.run(undefined, () => transport.writeText('one '));
      loop.run(undefined, () => transport.writeData(Buffer.from('two')));
      assert.deepEqual(calls, []);
      await turnEnd();
      assert.deepEqual(calls, ['write one two']);
      loop.run(undefined, () => transport.writeText('three'));
      await turnEnd();
      assert.deepEqual(calls, ['write one two', 'write three']);
    });

    it(`leave before the connection closes in the same turn, gathered: ${gathers}`, async () => {
      const { loop, transport, calls } = start();
      if (gathers) transport.gatherTurns();
      loop.run(undefined, () => transport.writeText('last'));
      loop.run(undefined, () => transport.close());
      await turnEnd();
      assert.deepEqual(calls, ['write last', 'close']);
      assert.equal(transport.bytesWritten, 4);
    });
  }

  it('of the event that closes the connection are lost, those before it leave', async () => {
    const { loop, transport, calls } = start();
    loop.run(undefined, () => transport.writeText('answer'));
    loop.run(undefined, () => {
      transport.writeText('refused');
      transport.close();
    });
    await turnEnd();
    assert.deepEqual(calls, ['write answer', 'close']);
  });

  it('of the event that closes the connection are lost when nothing was before them', async () => {
    const { loop, transport, calls } = start();
    loop.run(undefined, () => {
      transport.writeText('whole request');
      transport.close();
    });
    await turnEnd();
    assert.deepEqual(calls, ['close']);
  });

  it('leave within the turn when many transports have some', async () => {
    const loop = new WorkerLoop(systemClock);
    const many = Array.from({ length: 100 }, () => start(loop));
    const written = (): number => many.filter(({ calls }) => calls.length > 0).length;
    for (const { transport } of many) loop.run(undefined, () => transport.writeText('x'));
    assert.equal(written(), 64);
    await turnEnd();
    assert.equal(written(), 100);
    for (const { calls } of many) assert.deepEqual(calls, ['write x']);
  });

  it('leave in one piece and in their order, long ones too', async () => {
    const { loop, transport, calls } = start();
    transport.gatherTurns();
    const pieces = [9, 5000, 20, 1500, 16_384, 30, 12].map((length, at) =>
      String.fromCharCode(97 + at).repeat(length),
    );
    for (const piece of pieces) {
      loop.run(undefined, () => {
        transport.writeText(`<${piece.length}>`);
        transport.writeData(Buffer.from(piece));
      });
    }
    await turnEnd();
    assert.deepEqual(calls, [
      `write ${pieces.map((piece) => `<${piece.length}>${piece}`).join('')}`,
    ]);
    assert.equal(transport.bytesWritten, (calls[0]?.length ?? 0) - 'write '.length);
  });

  it('of any length are written whole, in their order, in blocks of a bounded size', async () => {
    const { loop, transport, calls } = start();
    transport.gatherTurns();
    let all = '';
    for (const length of [
      2000, 40_000, 3000, 100_000, 30_000, 30_000, 30_000, 1024, 1025, 90_000,
    ]) {
      const piece = String.fromCharCode(97 + (all.length % 26)).repeat(length);
      all += `<${length}>${piece}`;
      loop.run(undefined, () => {
        transport.writeText(`<${length}>`);
        transport.writeData(Buffer.from(piece));
      });
    }
    loop.run(undefined, () => transport.writeText('end'));
    await turnEnd();
    assert.equal(calls.map((call) => call.slice('write '.length)).join(''), `${all}end`);
    assert.ok(calls.length <= 9);
  });

  it('are lost with a connection that is reset, and given back', async () => {
    const { loop, transport, calls } = start();
    transport.gatherTurns();
    loop.run(undefined, () => transport.writeData(Buffer.alloc(5000)));
    loop.run(undefined, () => transport.reset());
    await turnEnd();
    assert.deepEqual(calls, ['reset']);
    assert.equal(transport.bytesWritten, 0);
  });

  it('leave before the turn ends when they are large', () => {
    const { loop, transport, calls } = start();
    transport.gatherTurns();
    const text = 'x'.repeat(10_000);
    for (let round = 0; round < 3; round++) loop.run(undefined, () => transport.writeText(text));
    assert.equal(calls.length, 2);
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
