/**
 * Whatever arrives at the hot-restart sockets, the supervisor lives, closes every descriptor that
 * it was handed, answers `/ready`, and takes part in the next hot restart.
 */
import assert from 'node:assert/strict';
import { openSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  cutIntoDatagrams,
  DATAGRAM_BYTES_MAX,
} from '../../supervisor/hot-restart/datagram-stream.ts';
import { endpointAddress } from '../../supervisor/hot-restart/endpoint-names.ts';
import {
  decodeHotRestartMessage,
  encodeHotRestartMessage,
  MalformedMessageError,
} from '../../supervisor/hot-restart/hot-restart-codec.ts';
import type { HotRestartMessage } from '../../supervisor/hot-restart/hot-restart-message.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import { attackParameters, attackRandom, attackTurns } from '../support/attack.ts';
import { openSender } from '../support/programs/datagram-senders.ts';
import { makeEpochs, type Epochs } from '../support/programs/epochs.ts';
import type { Sluice } from '../support/programs/sluice.ts';
import { waitUntil } from '../support/wait.ts';

const random = attackRandom();
const ROLES = ['parent', 'child', 'udp_parent', 'udp_child'] as const;
const BATCH = 100;

function below(end: number): number {
  return Math.floor(random() * end);
}

function oneOf<T>(...choices: readonly [T, ...T[]]): T {
  return choices[below(choices.length)] ?? choices[0];
}

function bytes(length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => below(256)));
}

const stats = {
  memoryAllocated: 1,
  numConnections: 2,
  counterDeltas: new Map([
    ['a.b', 1],
    ['__proto__', 2],
  ]),
  gauges: new Map([['constructor', 3]]),
  areTotals: true,
};

/** None of them ends a server or makes it drain. */
function harmlessMessage(): Uint8Array {
  return encodeHotRestartMessage(
    oneOf<Exclude<HotRestartMessage, { kind: 'unknown' }>>(
      { kind: 'request', request: { kind: 'stats', isSluice: random() < 0.5 } },
      {
        kind: 'request',
        request: {
          kind: 'pass_listen_socket',
          address: oneOf('tcp://127.0.0.1:1', 'constructor', '', '\u0000', 'x'.repeat(9000)),
          workerIndex: oneOf(0, 1, 2 ** 31, 2 ** 32 - 1),
        },
      },
      { kind: 'reply', reply: { kind: 'stats', stats } },
      { kind: 'reply', reply: { kind: 'pass_listen_socket', hasSocket: true } },
      {
        kind: 'reply',
        reply: {
          kind: 'shutdown_admin',
          originalStartTimeUnixSeconds: below(2 ** 31),
          enableReusePortDefault: true,
        },
      },
      { kind: 'not_recognised' },
    ),
  );
}

function mutated(message: Uint8Array): Uint8Array {
  const changed = Buffer.from(message);
  for (let count = oneOf(1, 1, 2, 5); count > 0; count -= 1) {
    changed[below(changed.length)] = below(256);
  }
  return oneOf(
    changed,
    changed.subarray(0, below(changed.length + 1)),
    Buffer.concat([changed, bytes(below(9))]),
  );
}

function badMessage(): Uint8Array {
  return oneOf(
    () => Buffer.from([0x7f]),
    // Groups within groups, for which a reader calls itself.
    () => Buffer.alloc(oneOf(10, 3_000, 100_000), oneOf(0x0b, 0x13, 0x0c)),
    // Numbers that never end, and parts within parts that are longer than what holds them.
    () => Buffer.alloc(below(5_000), 0xff),
    () => Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
    () => Buffer.from([0x12, 0x02, 0x1a, 0x7f, 0x1a, 0x02]),
    () => bytes(below(300)),
    () => mutated(harmlessMessage()),
    harmlessMessage,
  )();
}

/** A command that does what it says is no attack: this user may kill the server, too. */
function isCommand(message: Uint8Array): boolean {
  try {
    const decoded = decodeHotRestartMessage(message);
    return (
      decoded.kind === 'request' &&
      ['terminate', 'drain_listeners', 'shutdown_admin'].includes(decoded.request.kind)
    );
  } catch {
    return false;
  }
}

function attackMessage(): Uint8Array {
  for (;;) {
    const message = badMessage();
    if (!isCommand(message)) return message;
  }
}

/** The datagrams of a message as nobody sends them. */
function attackDatagrams(): readonly Buffer[] {
  const whole = cutIntoDatagrams(attackMessage());
  const joined = Buffer.concat(whole);
  return oneOf(
    () => whole,
    () => whole,
    () => [joined.subarray(0, below(joined.length + 1))],
    () => [Buffer.concat([joined, bytes(1 + below(100))])],
    () => [...whole].reverse(),
    () => whole.slice(1),
    () => [Buffer.alloc(0), ...whole, Buffer.alloc(0)],
    () => {
      const length = Buffer.alloc(8);
      length.writeBigUInt64BE(
        oneOf(0n, 2n ** 64n - 1n, 2n ** 63n, 2n ** 26n, 2n ** 26n + 1n, 100n),
      );
      return [length, Buffer.concat([length, bytes(below(DATAGRAM_BYTES_MAX))])];
    },
    // Small parts of a long message, and datagrams beyond what a reader has room for.
    () => {
      const length = Buffer.alloc(8);
      length.writeBigUInt64BE(2n ** 26n);
      return [length, ...Array.from({ length: 20 }, () => bytes(1))];
    },
    () => [Buffer.alloc(oneOf(4_097, 65_535, 65_536, 65_537, 150_000), below(256))],
  )();
}

function openFiles(sluice: Sluice): number {
  return readdirSync(`/proc/${sluice.pid}/fd`).length;
}

async function attack(epochs: Epochs, descriptor: number): Promise<void> {
  const meeting = { baseId: epochs.baseId, socketPath: '@envoy_domain_socket' };
  const senders = Array.from({ length: oneOf(1, 2, 6) }, () => ({
    sender: openSender(endpointAddress(meeting, oneOf(...ROLES), 0), random() < 0.7),
    datagrams: [...attackDatagrams()],
  }));
  // One datagram of each in turn, so that their messages interleave.
  while (senders.some(({ datagrams }) => datagrams.length > 0)) {
    for (const { sender, datagrams } of senders) {
      const datagram = datagrams.shift();
      if (datagram === undefined) continue;
      const passed = datagram.length <= 65_536 && random() < 0.5 ? oneOf(1, 4, 253) : 0;
      await sender.send(
        datagram,
        Array.from({ length: passed }, () => descriptor),
      );
    }
  }
  for (const { sender } of senders) sender.close();
}

describe('bytes that are no message', () => {
  it('are refused by one kind of error, whatever they are', () => {
    const anyBytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.constant(undefined).map(() => badMessage()),
    );
    fc.assert(
      fc.property(anyBytes, (message) => {
        try {
          decodeHotRestartMessage(message);
        } catch (error) {
          assert.ok(error instanceof MalformedMessageError);
        }
      }),
      attackParameters(2_000, 500_000) as fc.Parameters<[Uint8Array]>,
    );
  });
});

describe('datagrams that no epoch sends', () => {
  it('end nothing, leave nothing open and disturb no hot restart', async () => {
    await using epochs = await makeEpochs();
    const first = await epochs.start(0);
    const files = openFiles(first);
    const descriptor = openSync('/dev/null', 'r');
    let runs = 0;
    for (const turn of attackTurns(400, 60_000)) {
      runs = turn + 1;
      await attack(epochs, descriptor);
      if (runs % BATCH !== 0) continue;
      assert.equal((await first.admin('/ready')).status, 200);
      await waitUntil('no descriptors left', () => openFiles(first) <= files + 1);
    }
    closeDescriptor(descriptor);
    await first.waitForStat('sluice.hot_restart.malformed_datagrams', (value) => value > runs / 4);
    assert.equal(first.process.exitCode, null);
    const second = await epochs.start(1);
    assert.equal((await first.exited()).code, 0);
    assert.equal((await second.admin('/ready')).status, 200);
  });
});
