/**
 * Values that routes make of requests, towards a host that records every byte: of each request
 * exactly one message arrives, or nothing, and of each answer one arrives at the client. The same
 * for payloads that are no HTTP once the host agrees.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestMirrorPolicy, RouteAction } from '../../shared/resources/routes/route.ts';
import { cluster, host, startDataPlane, type DataPlaneSetup } from '../support/parts/data-plane.ts';
import { attackRuns, attackTurns } from '../support/attack.ts';
import { openRaw } from '../support/peers/raw-client.ts';
import { addition, direct, prefix, route, toCluster } from '../support/parts/routes.ts';
import { readStrictly, valuesOf } from '../support/parts/strict-message.ts';
import { startRawUpstream } from '../support/peers/upstream.ts';

const PARAMETER = '%QUERY_PARAM(q)%';
const OVERWRITE = { appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD' } as const;
/** Nothing of it may be taken for a request. */
const HIDDEN = 'GET /hidden HTTP/1.1\r\nhost: h\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Answers each head that it has got whole; a body's bytes do not look like one. */
function startHost(answer = OK) {
  return startRawUpstream((socket, received) => {
    let answered = 0;
    socket.on('data', () => {
      const heads = received().split('\r\n\r\n').length - 1;
      for (; answered < heads; answered++) socket.write(answer);
    });
  });
}

function everyByte(): readonly string[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => percent(byte));
  const single = bytes.map((byte) => `a${byte}b`);
  const pairs = attackRuns(0, 1) === 0 ? [] : bytes.flatMap((one) => bytes.map((two) => one + two));
  return [
    ...single,
    ...pairs,
    ...[HIDDEN, `x\r\n\r\n${HIDDEN}`, `/ HTTP/1.1\r\n\r\n${HIDDEN}`].map(escaped),
  ];
}

function percent(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}

function escaped(text: string): string {
  return [...Buffer.from(text, 'latin1')].map(percent).join('');
}

/** What has arrived is whole messages, one for each answer that is no refusal. */
async function attack(
  setup: DataPlaneSetup,
  values: readonly string[],
  requestOf: (value: string) => string,
): Promise<{ readonly passed: number; readonly refused: number }> {
  await using upstream = await startHost();
  await using plane = await startDataPlane({ upstreamPorts: [upstream.port], ...setup });
  let passed = 0;
  let refused = 0;
  for (const value of values) {
    const client = await openRaw(plane.port);
    const before = upstream.received.join('').length;
    client.send(requestOf(value));
    const text = await client.closed();
    const answers = readStrictly(text, 'response');
    assert.equal(answers.length, 1, value);
    const status = answers[0]?.start.split(' ')[1];
    const got = readStrictly(upstream.received.join(''), 'request');
    if (status === '200') passed++;
    else {
      assert.match(status ?? '', /^50[23]$/, value);
      assert.equal(upstream.received.join('').length, before, value);
      refused++;
    }
    assert.equal(got.length, passed, value);
    assert.ok(!got.some(({ start }) => start.startsWith('GET /hidden')), value);
  }
  return { passed, refused };
}

const closing = (value: string): string =>
  `GET /?q=${value} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n`;

/** What one host got is read again after each request, so that no host gets too many. */
const AT_ONE_HOST = 300;

async function attackInBlocks(
  setup: DataPlaneSetup,
  values: readonly string[],
): Promise<{ readonly passed: number; readonly refused: number }> {
  const total = { passed: 0, refused: 0 };
  const blocks = Math.ceil(values.length / AT_ONE_HOST);
  for (const block of attackTurns(blocks, blocks)) {
    const at = block * AT_ONE_HOST;
    const { passed, refused } = await attack(setup, values.slice(at, at + AT_ONE_HOST), closing);
    total.passed += passed;
    total.refused += refused;
  }
  return total;
}

function adding(name: string, changes: Partial<RouteAction> = {}): DataPlaneSetup {
  const add = [addition(name, PARAMETER, OVERWRITE)];
  const action = { ...toCluster(), ...changes } as RouteAction;
  return { routes: [route(prefix('/'), action, { requestHeaders: { add, remove: [] } })] };
}

describe('request smuggling', () => {
  it('is not done by a header, whatever its value is made of', async () => {
    const { passed, refused } = await attackInBlocks(adding('x-made'), everyByte());
    assert.ok(passed >= 220 && refused >= 32, `${passed} passed, ${refused} refused`);
  });

  for (const name of [
    ':path',
    ':method',
    ':authority',
    'content-length',
    'transfer-encoding',
    'te',
  ]) {
    it(`is not done by ${name}`, async () => {
      await attackInBlocks(adding(name), everyByte().slice(0, attackRuns(60, 70_000)));
      await attack(adding(name), ['1', 'chunked', '99'], closing);
    });
  }

  it('is not done by a body of another length than its head says', async () => {
    await using upstream = await startHost();
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      ...adding('content-length'),
    });
    for (const length of ['0', '3', '99', '1e1']) {
      const client = await openRaw(plane.port);
      const body = `abc${HIDDEN}`;
      client.send(
        `POST /?q=${length} HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      assert.match(await client.closed(), /^HTTP\/1\.1 503 /, length);
    }
    assert.ok(!upstream.received.join('').includes('GET /hidden'));
  });

  it('is not done by what mirrors get', async () => {
    await using mirror = await startHost();
    const mirrorPolicies: RequestMirrorPolicy[] = [
      { cluster: 'mirror', disableShadowHostSuffixAppend: false },
    ];
    const hosts = [host(mirror.port)];
    const updates = [
      { op: 'put_cluster', cluster: cluster('mirror') },
      { op: 'put_hosts', hosts: { cluster: 'mirror', hosts, overprovisioningFactor: 140 } },
    ] as const;
    const setup = { ...adding('x-made', toCluster({ mirrorPolicies })), updates };
    const values = ['good', escaped(`x\r\n\r\n${HIDDEN}`), escaped('a\0b')];
    await attack(setup, values, closing);
    assert.ok(!mirror.received.join('').includes('GET /hidden'));
    assert.equal(readStrictly(mirror.received.join(''), 'request').length, 1);
  });

  for (const [name, head, agreed] of [
    [
      'an upgrade',
      'GET / HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      101,
    ],
    ['CONNECT', 'CONNECT h:443 HTTP/1.1\r\nhost: h:443\r\n\r\n', 200],
  ] as const) {
    const type = agreed === 101 ? 'websocket' : 'connect';
    const upgrades = [{ type, enabled: true, terminateConnect: false, allowPost: false }];
    const match = agreed === 101 ? prefix('/') : ({ kind: 'connect' } as const);
    const setup = {
      manager: { upgrades: [{ type, enabled: true }], delayedCloseTimeoutMs: 1 },
      routes: [route(match, toCluster({ upgrades }))],
    };

    it(`is not done by what follows ${name} that the host refuses`, async () => {
      await using upstream = await startHost(
        'HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno',
      );
      await using plane = await startDataPlane({ ...setup, upstreamPorts: [upstream.port] });
      const client = await openRaw(plane.port);
      client.send(head + HIDDEN);
      assert.match(await client.until('no'), /^HTTP\/1\.1 403 /);
      client.send(HIDDEN);
      await client.closed();
      const got = readStrictly(upstream.received.join(''), 'request');
      assert.equal(got.length, 1);
    });

    it(`does not keep what follows ${name} that the host agrees to`, async () => {
      const answer =
        agreed === 101
          ? 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
          : 'HTTP/1.1 200 OK\r\n\r\n';
      await using upstream = await startRawUpstream((socket, received) => {
        socket.on('data', (piece) => {
          const isHead = received().length === piece.length;
          assert.equal(isHead && received().includes('early'), false);
          socket.write(isHead ? answer : `up:${piece.toString('latin1')}`);
        });
      });
      await using plane = await startDataPlane({ ...setup, upstreamPorts: [upstream.port] });
      const client = await openRaw(plane.port);
      client.send(`${head}early`);
      await client.until('up:early');
      client.send('late');
      await client.until('up:late');
      client.destroy();
    });
  }
});

describe('response splitting', () => {
  const changed = (name: string, action: RouteAction = toCluster()): DataPlaneSetup => ({
    routes: [
      route(prefix('/'), action, {
        responseHeaders: { add: [addition(name, PARAMETER, OVERWRITE)], remove: [] },
      }),
    ],
    manager: { delayedCloseTimeoutMs: 1 },
  });

  for (const [what, action] of [
    ['a host', toCluster()],
    ['the route', direct({ body: Buffer.from('ok') })],
  ] as const) {
    it(`is not done by a header of an answer of ${what}`, async () => {
      await using upstream = await startHost();
      await using plane = await startDataPlane({
        upstreamPorts: [upstream.port],
        ...changed('x-made', action),
      });
      let dropped = 0;
      const values = everyByte();
      for (const turn of attackTurns(values.length, values.length)) {
        const value = values[turn] ?? '';
        const client = await openRaw(plane.port);
        client.send(closing(value));
        const [answer, ...more] = readStrictly(await client.closed(), 'response');
        assert.deepEqual(more, [], value);
        assert.match(answer?.start ?? '', / 200 /);
        if (valuesOf(answer, 'x-made').length === 0) dropped++;
      }
      assert.ok(dropped >= 32);
      assert.equal(plane.stats().get('http.web.rs_unfit_parts_dropped'), dropped);
    });
  }

  it('is not done by a length, a coding or a status', async () => {
    await using upstream = await startHost();
    for (const name of ['content-length', 'transfer-encoding', ':status']) {
      await using plane = await startDataPlane({
        upstreamPorts: [upstream.port],
        ...changed(name),
      });
      for (const value of ['0', '1', '9', 'chunked', '1,1', '100', '101', '99999', 'x%0d%0a']) {
        const client = await openRaw(plane.port);
        client.send(`GET /?q=${value} HTTP/1.1\r\nhost: h\r\n\r\n`);
        await client.until('\r\n\r\n');
        client.send(`GET /?q=${value} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n`);
        const text = await client.closed();
        const announced = Number(/content-length: (\d+)/.exec(text)?.[1] ?? '0');
        // A body that is shorter than announced is the connection's last.
        if (announced > 2) assert.equal(text.split('HTTP/1.1').length, 2);
        else readStrictly(text, 'response');
      }
    }
  });
});
