/** Whatever keeps a body keeps it in about as much memory as it has, a byte at a time too. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MessagePass } from '../../../workers/filter-chain/message-pass.ts';
import { WaitingRequest } from '../../../workers/filters/common/waiting-request.ts';
import { MessageBuffer } from '../../../workers/filters/http/ext-proc/message-buffer.ts';
import { KeptMessage } from '../../../workers/filters/http/script/kept-message.ts';
import { HeldBytes } from '../../../workers/loop/held-bytes.ts';
import { PendingBody } from '../../../workers/router/attempt/pending-body.ts';
import { HeaderMap } from '../../../workers/stream/header-map.ts';
import { EarlyBytes } from '../../../workers/tcp/early-bytes.ts';
import { attackRuns } from '../../support/attack.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const LIMIT = 64 * 1024 * 1024;
const nothing = (): void => undefined;

type Keep = (data: Buffer) => void;

const KEEPERS: Readonly<Record<string, (held: HeldBytes) => Keep>> = {
  'an attempt without a connection': (held) => {
    const body = new PendingBody({ pauseRequest: nothing }, LIMIT, held);
    return (data) => body.add(data);
  },
  'a request that a service is asked about': (held) => {
    const callbacks = { pauseRequest: nothing } as never;
    const waiting = new WaitingRequest(callbacks, held, LIMIT);
    return (data) => waiting.take(data, false);
  },
  'a module that takes its time': (held) => {
    const kept = new KeptMessage(held, LIMIT, nothing);
    return (data) => kept.add(data, false);
  },
  'a body for a processor': (held) => {
    const buffer = new MessageBuffer({ pause: nothing } as never, held, LIMIT);
    return (data) => buffer.keep(data);
  },
  'a connection that a gate decides about': (held) => {
    const early = new EarlyBytes({ pauseReading: nothing } as never, held, LIMIT);
    return (data) => early.keep(data);
  },
  'a filter that stopped a message': (held) => {
    const filter = {} as never;
    const step = { headers: () => 'stop', data: () => 'stop_and_buffer' } as never;
    const pass = new MessagePass([filter], step, {} as never, held);
    pass.headers(new HeaderMap(), false);
    return (data) => pass.data(data, false);
  },
};

/** What the row before has left is gone when this one is measured. */
async function bytesInUse(): Promise<number> {
  await nextTurn();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('a body in pieces of a byte', () => {
  for (const [name, make] of Object.entries(KEEPERS)) {
    it(`takes about its own memory: ${name}`, async () => {
      const count = attackRuns(200_000, 2_000_000);
      const held = new HeldBytes();
      const keep = make(held);
      const input = Buffer.alloc(count, 'x');
      const before = await bytesInUse();
      for (let at = 0; at < count; at++) keep(input.subarray(at, at + 1));
      const perByte = ((await bytesInUse()) - before) / count;
      keep(input.subarray(0, 1));
      assert.equal(held.bytes, count + 1);
      assert.ok(perByte < 8, `${perByte.toFixed(1)} bytes for each byte`);
    });
  }
});
