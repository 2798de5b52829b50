import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClientHarness, type SeenMessage } from '../../../support/peers/http1.ts';
import { requestHeaders } from '../../../support/parts/stream.ts';

interface Exchange {
  readonly message: SeenMessage;
  readonly reusable: boolean | undefined;
  readonly protocolError: string;
}

type Ending = 'stays open' | 'closes' | 'breaks';

function exchange(
  pieces: readonly string[],
  method = 'GET',
  ending: Ending = 'stays open',
): Exchange {
  const headers = requestHeaders('/');
  headers.method = method;
  const client = new ClientHarness().request(headers).feed(...pieces);
  if (ending !== 'stays open') client.close(ending === 'closes');
  const { message, reusable, protocolError } = client;
  return { message, reusable, protocolError };
}

interface Case {
  readonly title: string;
  readonly bytes: string;
  readonly method?: string;
  readonly ending?: Ending;
  readonly expected: Partial<SeenMessage>;
  readonly reusable?: boolean;
}

const OK = 'HTTP/1.1 200 OK\r\n';

const accepted: readonly Case[] = [
  {
    title: 'a body by length',
    bytes: `${OK}Content-Length: 5\r\nX-A: b\r\n\r\nhello`,
    expected: {
      start: '200',
      body: 'hello',
      headers: [
        ['content-length', '5'],
        ['x-a', 'b'],
      ],
    },
    reusable: true,
  },
  {
    title: 'an empty body by length',
    bytes: `${OK}Content-Length: 0\r\n\r\n`,
    expected: { body: '' },
    reusable: true,
  },
  {
    title: 'a body in chunks',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`,
    expected: { body: 'abcde', headers: [] },
    reusable: true,
  },
  {
    title: 'trailers',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-T: 1\r\n\r\n`,
    expected: { body: 'a', trailers: [['x-t', '1']] },
    reusable: true,
  },
  {
    title: 'a body that only the close ends',
    bytes: `${OK}X-A: b\r\n\r\nhello`,
    ending: 'closes',
    expected: { body: 'hello' },
  },
  {
    title: 'an answer of HTTP/1.0, whose connection is not kept',
    bytes: 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi',
    expected: { body: 'hi' },
    reusable: false,
  },
  {
    title: 'an answer of HTTP/1.0 that keeps its connection',
    bytes: 'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi',
    expected: { body: 'hi', headers: [['content-length', '2']] },
    reusable: true,
  },
  {
    title: 'an announced close',
    bytes: `${OK}Connection: close\r\nContent-Length: 2\r\n\r\nhi`,
    expected: { body: 'hi' },
    reusable: false,
  },
  {
    title: 'no reason phrase',
    bytes: 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n',
    expected: { start: '200' },
    reusable: true,
  },
  {
    title: 'lines that end in LF alone',
    bytes: 'HTTP/1.1 404 Not Found\nContent-Length: 0\n\n',
    expected: { start: '404' },
    reusable: true,
  },
  {
    title: 'a status that no registry knows',
    bytes: 'HTTP/1.1 799 X\r\nContent-Length: 0\r\n\r\n',
    expected: { start: '799' },
    reusable: true,
  },
  {
    title: '204 without a body',
    bytes: 'HTTP/1.1 204 No Content\r\n\r\n',
    expected: { start: '204' },
    reusable: true,
  },
  {
    title: '304 with the length of what is not there',
    bytes: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n',
    expected: { start: '304', headers: [['content-length', '10']] },
    reusable: true,
  },
  {
    title: 'HEAD with the length of what is not there',
    bytes: `${OK}Content-Length: 10\r\n\r\n`,
    method: 'HEAD',
    expected: { headers: [['content-length', '10']] },
    reusable: true,
  },
  {
    title: 'HEAD without a length, which might have had chunks',
    bytes: `${OK}X-A: b\r\n\r\n`,
    method: 'HEAD',
    expected: { body: '' },
    reusable: true,
  },
  {
    title: 'HEAD with the coding of what is not there',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n`,
    method: 'HEAD',
    expected: { body: '' },
    reusable: true,
  },
  {
    title: 'informational answers before it',
    bytes: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 0\r\n\r\n`,
    expected: { start: '200', informational: [100, 103] },
    reusable: true,
  },
  {
    title: 'headers of the hop, which are taken out',
    bytes: `${OK}Keep-Alive: 5\r\nProxy-Connection: x\r\nConnection: x-foo\r\nUpgrade: h2c\r\nX-Foo: bar\r\nContent-Length: 0\r\n\r\n`,
    expected: {
      headers: [
        ['x-foo', 'bar'],
        ['content-length', '0'],
      ],
    },
    reusable: true,
  },
];

const refused: readonly (readonly [title: string, bytes: string])[] = [
  ['something else than HTTP', 'this is not http\r\n\r\n'],
  ['a version of the future', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 99 X\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 X\r\n\r\n'],
  [
    'an upgrade that nobody asked for',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n',
  ],
  [
    'length and chunks',
    `${OK}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  ],
  ['the same length twice', `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`],
  ['two lengths', `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`],
  ['another coding', `${OK}Transfer-Encoding: gzip\r\n\r\nabc`],
  ['two codings', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
  ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a header without a colon', `${OK}bad header\r\n\r\n`],
  ['NUL in a value', `${OK}x: a\0b\r\n\r\n`],
  ['more headers than the limit', `${OK}${'x-h: 1\r\n'.repeat(101)}\r\n`],
  ['larger headers than the limit', `${OK}x-big: ${'b'.repeat(70_000)}\r\n\r\n`],
  ['endless informational answers', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(40)],
];

describe('an HTTP/1 response', () => {
  for (const { title, bytes, method, ending, expected, reusable } of accepted) {
    it(`is understood with ${title}`, () => {
      const result = exchange([bytes], method, ending);
      assert.equal(result.message.error, '');
      assert.equal(result.message.complete, true);
      for (const [key, value] of Object.entries(expected)) {
        assert.deepEqual(result.message[key as keyof SeenMessage], value);
      }
      assert.equal(result.reusable, reusable);
    });
  }

  for (const [title, bytes] of refused) {
    it(`is refused with ${title}`, () => {
      const { message, protocolError } = exchange([bytes]);
      assert.equal(message.error, 'protocol_error');
      assert.equal(message.start, '', 'nothing of it may go on');
      assert.notEqual(protocolError, '');
    });
  }

  it('means the same however it is cut into reads', () => {
    const all: readonly Pick<Case, 'bytes' | 'method' | 'ending'>[] = [
      ...accepted,
      ...refused.map(([, bytes]) => ({ bytes })).filter(({ bytes }) => bytes.length < 1000),
    ];
    for (const { bytes, method, ending } of all) {
      const whole = exchange([bytes], method, ending);
      for (let at = 1; at < bytes.length; at++) {
        const cut = [bytes.slice(0, at), bytes.slice(at)];
        assert.deepEqual(exchange(cut, method, ending), whole, JSON.stringify(cut));
      }
      assert.deepEqual(exchange(bytes.split(''), method, ending), whole);
    }
  });

  it('is an upstream error when it ends too early', () => {
    const early: readonly (readonly [string, string])[] = [
      ['', 'connection_termination'],
      ['HTTP/1.1 200 O', 'connection_termination'],
      [`${OK}Content-Length: 10\r\n\r\nabc`, 'protocol_error'],
      [`${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`, 'protocol_error'],
    ];
    for (const [bytes, error] of early) {
      const { message } = exchange([bytes], 'GET', 'closes');
      assert.equal(message.error, error, bytes);
      assert.equal(message.complete, false);
    }
  });

  it('is not complete when the connection breaks instead of closing', () => {
    const { message } = exchange([`${OK}X-A: b\r\n\r\nhello`], 'GET', 'breaks');
    assert.equal(message.complete, false);
    assert.equal(message.error, 'connection_termination');
  });

  it('ends its connection when it comes before the whole request', () => {
    const client = new ClientHarness().request(requestHeaders('/'), false);
    client.feed(`${OK}Content-Length: 2\r\n\r\nhi`);
    assert.equal(client.message.complete, true);
    assert.equal(client.reusable, false);
  });

  it('that nobody asked for is a protocol error, also behind a complete one', () => {
    const client = new ClientHarness();
    client.feed(`${OK}Content-Length: 0\r\n\r\n`);
    assert.notEqual(client.protocolError, '');
    const second = new ClientHarness().request(requestHeaders('/'));
    second.feed(`${OK}Content-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n`);
    assert.equal(second.message.body, 'hi');
    assert.notEqual(second.protocolError, '');
  });

  it('that accepts an upgrade becomes raw bytes until the close', () => {
    const headers = requestHeaders('/', [['upgrade', 'websocket']]);
    const client = new ClientHarness().request(headers, false);
    assert.match(client.wire.written, /upgrade: websocket\r\nconnection: upgrade\r\n\r\n$/);
    client.feed(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nraw\r\n',
    );
    assert.equal(client.message.body, 'raw\r\n');
    assert.equal(client.message.complete, false);
    client.close();
    assert.equal(client.message.complete, true);
  });
});
