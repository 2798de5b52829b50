/**
 * What a name server may send over UDP, to the resolver that reads it in native code: every question
 * ends, the process lives, and what is taken are addresses with times that can be waited for.
 */
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { describe, it } from 'node:test';
import { NameResolver } from '../../../supervisor/dns/name-resolver.ts';
import { StatStore } from '../../../supervisor/stats/stat-store.ts';
import { attackRandom, attackRuns } from '../../support/attack.ts';
import { waitUntil, within } from '../../support/wait.ts';

/** Bytes of an answer to the question, which stands at 12 and ends before `end`. */
type Reply = (query: Buffer, end: number) => readonly Buffer[];

const POINTER = Buffer.from([0xc0, 12]);

function head(query: Buffer, end: number, answers: number, flags = 0x8180): Buffer {
  const made = Buffer.from(query.subarray(0, end));
  made.writeUInt16BE(flags, 2);
  made.writeUInt16BE(answers, 6);
  made.writeUInt32BE(0, 8);
  return made;
}

function record(owner: Buffer, type: number, ttl: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(ttl, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

function encoded(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(label));
  return Buffer.concat([...labels.flatMap((l) => [Buffer.from([l.length]), l]), Buffer.alloc(1)]);
}

const A = Buffer.from([10, 0, 0, 1]);
const good = record(POINTER, 1, 30, A);
const one =
  (bytes: Buffer, flags?: number): Reply =>
  (query, end) => [Buffer.concat([head(query, end, 1, flags), bytes])];
const aliases = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, at) =>
    record(at === 0 ? POINTER : encoded(`n${at}.t`), 5, 1, encoded(`n${at + 1}.t`)),
  );

const REPLIES: Readonly<Record<string, Reply>> = {
  'a good answer': one(good),
  'a name that points at itself': (query, end) => {
    const self = Buffer.from([0xc0 | (end >> 8), end & 255]);
    return [Buffer.concat([head(query, end, 1), record(self, 1, 30, A)])];
  },
  'a name that points behind the message': one(record(Buffer.from([0xff, 0xff]), 1, 30, A)),
  'an alias of itself': one(record(POINTER, 5, 30, POINTER)),
  'a thousand aliases': (query, end) => [
    Buffer.concat([head(query, end, 1001), ...aliases(1000), record(encoded('n1000.t'), 1, 1, A)]),
  ],
  'sixty thousand bytes': (query, end) => [
    Buffer.concat([head(query, end, 3700), ...Array.from({ length: 3700 }, () => good)]),
  ],
  'fewer records than announced': (query, end) => [Buffer.concat([head(query, end, 65_535), good])],
  'an address of no bytes': one(record(POINTER, 1, 30, Buffer.alloc(0))),
  'an address of five bytes': one(record(POINTER, 1, 30, Buffer.alloc(5))),
  'a record that is longer than the message': one(good.subarray(0, good.length - 2)),
  'no time': one(record(POINTER, 1, 0, A)),
  'a time of 2^31': one(record(POINTER, 1, 2 ** 31, A)),
  'the longest time': one(record(POINTER, 1, 2 ** 32 - 1, A)),
  'a question in place of an answer': one(good, 0x0100),
  'no question': (query) => [Buffer.concat([head(query, 12, 1).fill(0, 4, 6), good])],
  'a wrong number before the right one': (query, end) => {
    const [right = Buffer.alloc(0)] = one(good)(query, end);
    const wrong = Buffer.from(right);
    wrong.writeUInt16BE((query.readUInt16BE(0) + 1) & 0xffff, 0);
    return [...Array.from({ length: 100 }, () => wrong), right];
  },
  'half a head': (query) => [query.subarray(0, 6)],
  'nothing but zeros': () => [Buffer.alloc(512)],
  'every code of failure': (query, end) =>
    Array.from({ length: 16 }, (_, code) => head(query, end, 0, 0x8180 | code)),
  'a cut answer': (query, end) => [head(query, end, 0, 0x8380)],
  'a label of 63 and more': one(record(Buffer.alloc(300, 63), 1, 30, A)),
};

function spoiled(random: () => number): Reply {
  return (query, end) => {
    const answer = Buffer.concat([head(query, end, 2), good, record(POINTER, 5, 9, POINTER)]);
    for (let at = 0; at < 4; at++) {
      answer[2 + Math.floor(random() * (answer.length - 2))] = Math.floor(random() * 256);
    }
    return [answer.subarray(0, Math.ceil(random() * answer.length * 2))];
  };
}

function endOfQuestion(query: Buffer): number {
  let at = 12;
  while ((query[at] ?? 0) !== 0) at += 1 + (query[at] ?? 0);
  return at + 5;
}

function resolverOf(port: number, timeoutMs = 300): NameResolver {
  return new NameResolver({
    settings: {
      servers: [`127.0.0.1:${port}`],
      serversAreFallback: false,
      noSearchDomains: true,
      skipsUnroutable: false,
      usesTcp: false,
      timeoutMs,
      tries: 1,
    },
    writer: new StatStore(),
    hostsPath: '/nowhere',
  });
}

describe('a hostile name server over UDP', () => {
  it('ends every question, and nothing else', async () => {
    const random = attackRandom(9);
    const generated = Array.from({ length: attackRuns(30, 2_000) }, () => spoiled(random));
    const replies = [
      ...Object.entries(REPLIES),
      ...generated.map((each) => ['bytes', each] as const),
    ];
    const socket: Socket = createSocket('udp4');
    socket.on('message', (query, { port, address }) => {
      const index = Number(/h(\d{10})/.exec(query.subarray(12).toString('latin1'))?.[1]);
      const [, reply] = replies[index] ?? [];
      for (const answer of reply?.(query, endOfQuestion(query)) ?? []) {
        socket.send(answer, port, address);
      }
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const resolver = resolverOf(socket.address().port);
    const ask = async (index: number): Promise<number> => {
      const [what = ''] = replies[index] ?? [];
      const name = `h${String(index).padStart(10, '0')}.test`;
      const answer = await within(what, resolver.resolve(name, 'V4_ONLY'));
      if (answer.outcome !== 'found') return 0;
      for (const { address, ttlS } of answer.addresses) {
        assert.equal(isIP(address), 4, what);
        assert.ok(Number.isInteger(ttlS) && ttlS >= 0 && ttlS <= 0x7fff_ffff, `${what}: ${ttlS}`);
      }
      return 1;
    };
    let found = 0;
    // One after the other: c-ares ends all questions of a socket at a reply that is no message.
    for (const index of replies.keys()) {
      found += await ask(index);
      assert.equal(await ask(0), 1, replies[index]?.[0]);
    }
    assert.ok(found > 3, `${found} found`);
    resolver.close();
    socket.close();
  });

  it('ends no question but the one whose answer is no message', async () => {
    const held = new Set<string>();
    const socket: Socket = createSocket('udp4');
    socket.on('message', (query, { port, address }) => {
      const name = query.subarray(12).toString('latin1');
      const say = (bytes: Buffer): void => socket.send(bytes, port, address);
      if (name.includes('bad')) say(query.subarray(0, 13));
      else if (held.has(name)) for (const each of answersTo(query)) say(each);
      else held.add(name);
    });
    const answersTo = (query: Buffer): readonly Buffer[] => one(good)(query, endOfQuestion(query));
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const resolver = resolverOf(socket.address().port, 10_000);
    try {
      const names = Array.from({ length: 40 }, (_, at) => `good${at}.test`);
      const answers = Promise.all(names.map((name) => resolver.resolve(name, 'V4_ONLY')));
      await waitUntil('all questions', () => held.size === names.length);
      const bad = await within('the bad one', resolver.resolve('bad.test', 'V4_ONLY'));
      assert.equal(bad.outcome, 'failed');
      for (const { outcome } of await within('the others', answers)) assert.equal(outcome, 'found');
    } finally {
      resolver.close();
      socket.close();
    }
  });
});
