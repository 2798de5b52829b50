import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  decodeHotRestartMessage,
  encodeHotRestartMessage,
  MalformedMessageError,
} from '../../../../supervisor/hot-restart/hot-restart-codec.ts';
import type { HotRestartMessage } from '../../../../supervisor/hot-restart/hot-restart-message.ts';
import {
  cutIntoDatagrams,
  DATAGRAM_BYTES_MAX,
  DatagramJoiner,
} from '../../../../supervisor/hot-restart/datagram-stream.ts';

type Sent = Exclude<HotRestartMessage, { kind: 'unknown' }>;

/** Bytes seen between two processes of Envoy, with the length before them. */
const SEEN: readonly (readonly [string, Sent, string])[] = [
  [
    'a request to shut the admin listener down',
    { kind: 'request', request: { kind: 'shutdown_admin' } },
    '0000000000000004 0a021200',
  ],
  [
    'the reply with the first epoch’s start time',
    {
      kind: 'reply',
      reply: {
        kind: 'shutdown_admin',
        originalStartTimeUnixSeconds: 1795260053,
        enableReusePortDefault: true,
      },
    },
    '000000000000000c 120a 120808 95fd85d806 1001',
  ],
  [
    'a request for the first worker’s socket, index left out',
    {
      kind: 'request',
      request: { kind: 'pass_listen_socket', address: 'tcp://127.0.0.1:23912', workerIndex: 0 },
    },
    '000000000000001b 0a190a170a15 7463703a2f2f3132372e302e302e313a3233393132',
  ],
  [
    'a request for the second worker’s socket',
    {
      kind: 'request',
      request: { kind: 'pass_listen_socket', address: 'tcp://127.0.0.1:23912', workerIndex: 1 },
    },
    '000000000000001d 0a1b0a190a15 7463703a2f2f3132372e302e302e313a3233393132 1001',
  ],
  [
    'a request for statistics',
    { kind: 'request', request: { kind: 'stats', isSluice: false } },
    '0000000000000004 0a021a00',
  ],
  [
    'the request to drain',
    { kind: 'request', request: { kind: 'drain_listeners' } },
    '0000000000000004 0a022200',
  ],
  [
    'the request to end',
    { kind: 'request', request: { kind: 'terminate' } },
    '0000000000000004 0a022a00',
  ],
  ['a message not recognised', { kind: 'not_recognised' }, '0000000000000002 1801'],
];

describe('hot-restart messages have Envoy’s bytes', () => {
  for (const [what, message, hex] of SEEN) {
    it(what, () => {
      const wanted = Buffer.from(hex.replaceAll(' ', ''), 'hex');
      assert.deepEqual(Buffer.concat(cutIntoDatagrams(encodeHotRestartMessage(message))), wanted);
      assert.deepEqual(decodeHotRestartMessage(wanted.subarray(8)), message);
    });
  }

  it('a socket reply is known by any number but -1', () => {
    const reply = (hex: string): unknown => decodeHotRestartMessage(Buffer.from(hex, 'hex'));
    assert.deepEqual(reply('12040a020818'), {
      kind: 'reply',
      reply: { kind: 'pass_listen_socket', hasSocket: true },
    });
    assert.deepEqual(reply('120d0a0b08ffffffffffffffffff01'), {
      kind: 'reply',
      reply: { kind: 'pass_listen_socket', hasSocket: false },
    });
  });

  it('a request kind of a newer build is unknown, not an error', () => {
    assert.deepEqual(decodeHotRestartMessage(Buffer.from('0a027200', 'hex')), { kind: 'unknown' });
  });
});

describe('statistics survive the way through datagrams', () => {
  const values = fc
    .array(fc.tuple(fc.string(), fc.nat(Number.MAX_SAFE_INTEGER)), { maxLength: 300 })
    .map((entries) => new Map(entries));

  it('whatever their names and values are', () => {
    fc.assert(
      fc.property(
        values,
        values,
        fc.nat(),
        fc.nat(),
        (counterDeltas, gauges, memory, connections) => {
          const message: Sent = {
            kind: 'reply',
            reply: {
              kind: 'stats',
              stats: {
                memoryAllocated: memory,
                numConnections: connections,
                counterDeltas,
                gauges,
                areTotals: memory % 2 === 1,
              },
            },
          };
          const joiner = new DatagramJoiner(1 << 26);
          const datagrams = cutIntoDatagrams(encodeHotRestartMessage(message));
          assert.ok(datagrams.every((datagram) => datagram.length <= DATAGRAM_BYTES_MAX));
          const joined = datagrams.map((datagram) => joiner.push(datagram));
          const last = joined.pop();
          assert.ok(joined.every((part) => part === undefined));
          assert.deepEqual(decodeHotRestartMessage(last!), message);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('damaged bytes are refused, never looped over', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          decodeHotRestartMessage(bytes);
        } catch (error) {
          assert.ok(error instanceof MalformedMessageError);
        }
      }),
    );
  });
});
