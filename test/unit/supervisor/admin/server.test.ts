/** The admin listener on a real socket: what HTTP itself demands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LISTENER } from '../../../../shared/stats/templates/listener.ts';
import { exchange, start } from './admin-socket.ts';
import { recordingWriter } from './recording-writer.ts';

const normalise = (answer: string) => answer.replace(/date: [^\r]*/, 'date: <date>');

test('an answer carries the headers of Envoy in its order', async () => {
  const { admin, port } = await start();
  const request = 'GET /ready HTTP/1.1\r\nhost: a\r\n\r\n';
  const last = 'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  const head = [
    'HTTP/1.1 200 OK',
    'content-type: text/plain; charset=UTF-8',
    'cache-control: no-cache, max-age=0',
    'x-content-type-options: nosniff',
    'date: <date>',
    'server: sluice',
  ];
  const body = '5\r\nLIVE\n\r\n0\r\n\r\n';
  const answers = await exchange(port, request + last);
  assert.equal(
    answers.replace(/date: [^\r]*/g, 'date: <date>'),
    [...head, 'transfer-encoding: chunked', '', body].join('\r\n') +
      [...head, 'connection: close', 'transfer-encoding: chunked', '', body].join('\r\n'),
  );
  admin.close();
});

test('HEAD gets the headers of GET and no body', async () => {
  const { admin, port } = await start();
  const answer = await exchange(
    port,
    'HEAD /help HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
  );
  assert.match(answer, /transfer-encoding: chunked\r\n\r\n$/);
  admin.close();
});

const REFUSED: readonly (readonly [string, string, number])[] = [
  ['HTTP/1.0', 'GET /ready HTTP/1.0\r\n\r\n', 426],
  ['HTTP/1.0 with keep-alive', 'GET /ready HTTP/1.0\r\nconnection: keep-alive\r\n\r\n', 426],
  ['HTTP/0.9', 'GET /ready\r\n\r\n', 426],
  ['HTTP/2.0', 'GET /ready HTTP/2.0\r\nhost: a\r\n\r\n', 426],
  ['HTTP/1.2', 'GET /ready HTTP/1.2\r\nhost: a\r\n\r\n', 426],
  ['half a version', 'GET /ready HTTP/1.\r\nhost: a\r\n\r\n', 400],
  ['bytes behind the version', 'GET /ready HTTP/1.1x\r\nhost: a\r\n\r\n', 400],
  ['bare line feeds', 'GET /ready HTTP/1.1\nhost: a\n\n', 400],
  ['an unknown method', 'FOO /ready HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['a method in lower case', 'get /ready HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['garbage', '\x00\x01\x02\r\n\r\n', 400],
  ['a target without a slash', 'GET ready HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['a blank in the target', 'GET /re ady HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['a control byte in the target', 'GET /re\x01ady HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['bytes above ASCII in the target', 'GET /r\xc3\xa9 HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['a blank in a field name', 'GET / HTTP/1.1\r\nhost: a\r\nx y: 1\r\n\r\n', 400],
  ['a length that is no number', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n', 400],
  [
    'a length together with chunks',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  [
    'two lengths',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    400,
  ],
  [
    'an unknown transfer encoding',
    'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n',
    501,
  ],
  ['too many fields', `GET / HTTP/1.1\r\nhost: a\r\n${'x: 1\r\n'.repeat(101)}\r\n`, 431],
  ['too large fields', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(70_000)}\r\n\r\n`, 431],
];

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  426: 'Upgrade Required',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
};

test('what is no acceptable request is answered as Envoy does and ends the connection', async (t) => {
  const { admin, port } = await start();
  for (const [name, bytes, status] of REFUSED) {
    await t.test(name, async () => {
      const reason = REASONS[status] ?? '';
      assert.equal(
        normalise(await exchange(port, bytes)),
        `HTTP/1.1 ${status} ${reason}\r\ncontent-length: ${reason.length}\r\n` +
          'content-type: text/plain\r\ndate: <date>\r\nserver: sluice\r\nconnection: close\r\n\r\n' +
          reason,
      );
    });
  }
  admin.close();
});

test('requests that came whole are answered before bytes behind them are refused', async () => {
  const { admin, port } = await start();
  const ready = 'GET /ready HTTP/1.1\r\nhost: a\r\n\r\n';
  const answers = await exchange(port, `${ready}${ready}GARBAGE\r\n\r\n`);
  assert.deepEqual(
    [...answers.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status),
    ['200', '200', '400'],
  );
  admin.close();
});

test('what follows a request that closes the connection is not read', async () => {
  const { admin, port } = await start();
  const closing = 'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  const answers = await exchange(port, `${closing}GET /help HTTP/1.1\r\nhost: a\r\n\r\n`);
  assert.match(answers, /^HTTP\/1.1 200 OK[^]*LIVE\n\r\n0\r\n\r\n$/);
  admin.close();
});

test('a client that says nothing gets 408 after the limit for headers', async () => {
  const { admin, port } = await start({}, { headersMs: 50 });
  assert.match(await exchange(port, ''), /^HTTP\/1.1 408 Request Timeout/);
  assert.match(await exchange(port, 'PRI * HTT'), /^HTTP\/1.1 408 Request Timeout/);
  admin.close();
});

test('a request without a host gets 400 and an empty body', async () => {
  const { admin, port } = await start();
  assert.equal(
    normalise(await exchange(port, 'GET /ready HTTP/1.1\r\n\r\n')),
    'HTTP/1.1 400 Bad Request\r\ndate: <date>\r\nserver: sluice\r\n' +
      'connection: close\r\ncontent-length: 0\r\n\r\n',
  );
  admin.close();
});

test('hosts, methods and targets that Envoy refuses get 400', async () => {
  const { admin, port } = await start();
  const head = 'HTTP/1.1\r\nhost: a\r\n\r\n';
  const cases: readonly (readonly [string, string])[] = [
    ['GET /ready HTTP/1.1\r\nhost: a/b\r\n\r\n', 'Bad Request'],
    [`M-SEARCH /ready ${head}`, 'Bad Request'],
    [`CONNECT /ready ${head}`, 'Bad Request'],
    [`GET /ready#a ${head}`, ''],
    [`GET /ready%00 ${head}`, ''],
  ];
  for (const [request, body] of cases) {
    const answer = await exchange(port, request);
    assert.match(answer, /^HTTP\/1.1 400 Bad Request\r\n/, request);
    assert.equal(answer.split('\r\n\r\n')[1], body, request);
  }
  const filtered = await exchange(
    port,
    `GET /ready?%00 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
  );
  assert.match(filtered, /^HTTP\/1.1 200 OK/);
  admin.close();
});

test('a target that is no path gets an empty 404', async () => {
  const { admin, port } = await start();
  for (const target of ['http://a/ready', '*']) {
    const method = target === '*' ? 'OPTIONS' : 'GET';
    const answer = await exchange(
      port,
      `${method} ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1.1 404 Not Found\r\n[^]*\r\ncontent-length: 0\r\n\r\n$/);
  }
  admin.close();
});

test('queries with raw ^ | \\ ( ) and 50,000 bytes are accepted', async () => {
  const { admin, port } = await start();
  for (const query of ['usedonly&filter=^(a|b)\\.c$', 'a'.repeat(50_000)]) {
    const answer = await exchange(
      port,
      `GET /ready?${query} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1.1 200 OK/);
  }
  admin.close();
});

test('form bodies are parameters, and a body beyond the limit is refused', async () => {
  const given: ReadonlyMap<string, string>[] = [];
  const runtime = {
    snapshot: () => new Map(),
    layers: () => [],
    entries: () => [],
    modifyAdminLayer: async (values: ReadonlyMap<string, string>) => {
      given.push(values);
      return await Promise.resolve(undefined);
    },
  };
  const { admin, port } = await start({ runtime }, { bodyBytes: 100 });
  const post = (body: string) =>
    'POST /runtime_modify HTTP/1.1\r\nhost: a\r\nconnection: close\r\n' +
    `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  assert.match(await exchange(port, post('a=b&c=%64')), /^HTTP\/1.1 200 OK/);
  assert.deepEqual(
    [...(given[0] ?? [])],
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  );
  assert.match(await exchange(port, post('a'.repeat(101))), /^HTTP\/1.1 413 Payload Too Large/);
  admin.close();
});

test('connections are counted under listener.admin', async () => {
  const writer = recordingWriter();
  const { admin, port } = await start({ statWriter: writer });
  await exchange(port, 'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  const base = writer.named.get('listener.admin.') ?? -1;
  assert.equal(writer.valueOf(base + LISTENER.index.downstream_cx_total), 1);
  admin.close();
});
