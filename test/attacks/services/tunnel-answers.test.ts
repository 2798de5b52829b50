/**
 * Proxies behind a TCP proxy that tunnels, which answer CONNECT and POST with whatever they like:
 * a client sees bytes of its tunnel alone, and nothing at all where there is none.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { attackRandom, attackTurns } from '../../support/attack.ts';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startRawUpstream, type RawUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';

const OPEN: Readonly<Record<string, string>> = {
  plain: 'HTTP/1.1 200 OK\r\n\r\n',
  'another 2xx': 'HTTP/1.1 299 Yes\r\n\r\n',
  'no content': 'HTTP/1.1 204 No Content\r\n\r\n',
  'a length, which CONNECT ignores': 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n',
  'chunks, which CONNECT ignores': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
  'hints before': 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
};
const CLOSED: Readonly<Record<string, string>> = {
  nothing: '',
  'a refusal': 'HTTP/1.1 403 Forbidden\r\ncontent-length: 7\r\n\r\n',
  'a redirect': 'HTTP/1.1 302 Found\r\nlocation: http://x/\r\n\r\n',
  'a challenge': 'HTTP/1.1 407 Who\r\nproxy-authenticate: Basic\r\n\r\n',
  'an upgrade': 'HTTP/1.1 101 Go\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  'no status': 'HTTP/1.1 OK\r\n\r\n',
  'a status of many digits': 'HTTP/1.1 2000 OK\r\n\r\n',
  'a field without a colon': 'HTTP/1.1 200 OK\r\nbad\r\n\r\n',
  'a byte of zero': 'HTTP/1.1 200 OK\r\na: \0\r\n\r\n',
  'an endless head': `HTTP/1.1 200 OK\r\na: ${'x'.repeat(100_000)}\r\n\r\n`,
  'a thousand fields': `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(1000)}\r\n`,
  'hints without end': 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000),
  'half a head': 'HTTP/1.1 200 OK\r\na: b\r\n',
  'another protocol': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  HTTP2: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
};
const PAYLOAD = 'abc\r\nHTTP/1.1 200 OK\r\n\r\n\0\xffdef';

describe('the answer to a tunnel', () => {
  /** What the next connection is sent, in pieces. */
  let pieces: readonly string[] = [];
  let proxy: RawUpstream;
  let sluice: Sluice;
  const ports = new Map<string, number>();

  before(async () => {
    proxy = await startRawUpstream((socket, received) => {
      const mine = pieces;
      let isAnswered = false;
      socket.on('data', () => {
        if (isAnswered || !received().includes('\r\n\r\n')) return;
        isAnswered = true;
        const [first = '', ...rest] = mine;
        socket.write(Buffer.from(first, 'latin1'));
        const next = (): void => {
          const piece = rest.shift();
          if (piece === undefined) socket.end();
          else socket.write(Buffer.from(piece, 'latin1'), () => setImmediate(next));
        };
        next();
      });
    });
    const kinds = { connect: {}, post: { use_post: true } };
    sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: Object.entries(kinds).map(([name, more]) => ({
          ...filterListener([tcpProxyFilter({ tunneling_config: { hostname: 'h:1', ...more } })]),
          name,
        })),
        clusters: [staticCluster('up', [proxy.port])],
      }),
    });
    for (const name of Object.keys(kinds)) ports.set(name, await sluice.listenerPort(name));
  });
  after(async () => {
    assert.equal(await sluice.stat('sluice.worker.exceptions'), 0);
    await sluice.waitForStat('cluster.up.upstream_cx_active', (value) => value === 0);
    await sluice.waitForStat('cluster.up.upstream_rq_active', (value) => value === 0);
    await sluice.stop();
    await proxy.close();
  });

  /** What a client gets until its connection is closed. */
  async function seen(kind: string, answer: readonly string[]): Promise<string> {
    pieces = answer;
    const client = await openRaw(ports.get(kind) ?? 0);
    client.send('hello');
    const text = await client.closed();
    client.destroy();
    return text;
  }

  for (const [name, head] of Object.entries(OPEN)) {
    it(`opens it by ${name}, and every byte behind it is the client's`, async () => {
      assert.equal(await seen('connect', [head, PAYLOAD]), PAYLOAD);
      assert.equal(await seen('connect', [head + PAYLOAD]), PAYLOAD);
      assert.equal(await seen('connect', (head + PAYLOAD).split('')), PAYLOAD);
    });
  }

  for (const [name, head] of Object.entries(CLOSED)) {
    it(`closes it by ${name}, and shows nothing of it`, async () => {
      for (const kind of ports.keys()) assert.equal(await seen(kind, [head, 'secret']), '', kind);
    });
  }

  it('to POST ends where its length or its chunks end', async () => {
    const sized = 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n';
    assert.equal(await seen('post', [sized, 'abcdef']), 'abc');
    const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
    assert.equal(await seen('post', [chunked, '3\r\nabc\r\n0\r\n\r\n', 'def']), 'abc');
    const broken = await seen('post', [chunked, '3\r\nabc\r\nzz\r\n', 'def']);
    assert.ok('abc'.startsWith(broken), broken);
    assert.equal(await seen('post', [sized.replace('3', '-3'), 'abc']), '');
  });

  it('of any bytes shows a client what stands behind a head alone', async () => {
    const random = attackRandom();
    const pick = (below: number): number => Math.floor(random() * below);
    for (const _ of attackTurns(60, 20_000)) {
      const whole = (Object.values(OPEN)[pick(6)] ?? '').split('');
      for (let change = pick(3); change > 0; change--) {
        whole.splice(
          pick(whole.length),
          pick(3),
          ...['\r', '\n', '\0', ':', ' ', '2'].slice(pick(6), pick(7)),
        );
      }
      const at = pick(whole.length);
      const sent = [whole.slice(0, at).join(''), whole.slice(at).join(''), PAYLOAD];
      const text = await seen('connect', sent);
      const all = sent.join('');
      assert.ok(all.endsWith(text), JSON.stringify([sent, text]));
      const head = all.slice(0, all.length - text.length);
      assert.ok(
        text === '' || /^HTTP\/1\.[01] [^]*\n\r?\n$/.test(head),
        JSON.stringify([sent, text]),
      );
    }
  });
});
