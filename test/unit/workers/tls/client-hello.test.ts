import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { connect } from 'node:tls';
import { type HelloResult, readClientHello } from '../../../../workers/tls/client-hello.ts';

interface Extension {
  readonly type: number;
  readonly body: Buffer;
}

function vector(lengthBytes: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(body.length, 0, lengthBytes);
  return Buffer.concat([length, body]);
}

const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 0xff);

function serverName(...names: readonly string[]): Extension {
  const entries = names.map((name) => Buffer.concat([Buffer.of(0), vector(2, Buffer.from(name))]));
  return { type: 0, body: vector(2, ...entries) };
}

function alpn(...names: readonly string[]): Extension {
  return { type: 16, body: vector(2, ...names.map((name) => vector(1, Buffer.from(name)))) };
}

const GREASE: Extension = { type: 0x0a0a, body: Buffer.of(0) };

function message(extensions: readonly Extension[] | undefined): Buffer {
  const body = [u16(0x0303), Buffer.alloc(32, 7), vector(1, Buffer.alloc(32, 9))];
  body.push(vector(2, u16(0x1a1a), u16(0x1301)), vector(1, Buffer.of(0)));
  if (extensions !== undefined) {
    body.push(vector(2, ...extensions.flatMap(({ type, body: of }) => [u16(type), vector(2, of)])));
  }
  return Buffer.concat([Buffer.of(1), vector(3, ...body)]);
}

/** `size`: bytes of the message per record. */
function records(of: Buffer, size = of.length): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < of.length; at += size) {
    parts.push(Buffer.of(22, 3, 1), vector(2, of.subarray(at, at + size)));
  }
  return Buffer.concat(parts);
}

const NAMED = message([GREASE, serverName('A.Example.COM'), alpn('h2', 'http/1.1')]);
const READ: HelloResult = {
  kind: 'hello',
  hello: { serverName: 'a.example.com', protocols: ['h2', 'http/1.1'] },
};
const NAMELESS = { serverName: '', protocols: [] };
const OTHER: HelloResult = { kind: 'other' };

describe('the reader of the first message of a TLS client', () => {
  it('waits for the whole message, wherever it is cut', () => {
    for (const size of [1, 3, 5, 50, NAMED.length]) {
      const data = records(NAMED, size);
      for (let length = 0; length < data.length; length += 1) {
        assert.deepEqual(readClientHello(data.subarray(0, length)), { kind: 'more' });
      }
      assert.deepEqual(readClientHello(data), READ, `in records of ${size}`);
      // What follows belongs to others.
      assert.deepEqual(readClientHello(Buffer.concat([data, Buffer.alloc(9)])), READ);
    }
  });

  const found: readonly (readonly [string, readonly Extension[] | undefined, object])[] = [
    ['no extensions', undefined, NAMELESS],
    ['an empty list of extensions', [], NAMELESS],
    ['unknown extensions alone', [GREASE, { type: 0xffff, body: Buffer.alloc(70) }], NAMELESS],
    ['no server name', [alpn('h2')], { serverName: '', protocols: ['h2'] }],
    [
      'bytes that are no letters',
      [serverName('\u00c0A\r\n')],
      { serverName: '\xc3\x80a\r\n', protocols: [] },
    ],
    [
      'a name of 255 bytes',
      [serverName('a'.repeat(255))],
      { serverName: 'a'.repeat(255), protocols: [] },
    ],
    ['an empty protocol', [alpn('')], { serverName: '', protocols: [''] }],
    [
      'many protocols',
      [alpn(...Array.from({ length: 200 }, (_, index) => `p${index}`))],
      { serverName: '', protocols: Array.from({ length: 200 }, (_, index) => `p${index}`) },
    ],
    [
      'a protocol that is cut short',
      [{ type: 16, body: Buffer.of(0, 4, 1, 97, 9, 98) }],
      { serverName: '', protocols: ['a'] },
    ],
  ];
  for (const [what, extensions, hello] of found) {
    it(`reads ${what}`, () => {
      assert.deepEqual(readClientHello(records(message(extensions))), { kind: 'hello', hello });
    });
  }

  it('names nothing of a message whose own lengths are wrong', () => {
    const broken = Buffer.from(message([serverName('a')]));
    broken.writeUInt8(255, 4 + 34);
    assert.deepEqual(readClientHello(records(broken)), { kind: 'hello', hello: NAMELESS });
  });

  const others: readonly (readonly [string, Buffer])[] = [
    ['plain HTTP', Buffer.from('GET / HTTP/1.1\r\n')],
    ['a hello of SSL 2', Buffer.from('802e0103010015', 'hex')],
    ['a record of another type', Buffer.from('1703030005', 'hex')],
    ['another major version', Buffer.from('1602000005', 'hex')],
    ['an empty record', Buffer.from('1603010000', 'hex')],
    ['a record longer than any may be', Buffer.from('160301ffff', 'hex')],
    ['another handshake message', Buffer.from('160301000402000000', 'hex')],
    [
      'a second record of another type',
      Buffer.concat([records(NAMED, 60).subarray(0, 65), Buffer.of(23, 3, 3)]),
    ],
  ];
  // Another reader might find another name in these than we do.
  const ambiguous: readonly (readonly [string, readonly Extension[]])[] = [
    ['an empty server name extension', [{ type: 0, body: Buffer.alloc(0) }]],
    ['an empty list of names', [serverName()]],
    ['an empty name', [serverName('')]],
    ['a name of 256 bytes', [serverName('a'.repeat(256))]],
    ['a name with NUL', [serverName('a\0b')]],
    ['a name of another type', [{ type: 0, body: vector(2, Buffer.of(9, 0, 1, 97)) }]],
    ['several names', [serverName('one', 'two')]],
    ['several server name extensions', [serverName('one'), serverName('two')]],
    ['an extension twice', [serverName('one'), GREASE, GREASE]],
    ['a name longer than its list', [{ type: 0, body: Buffer.of(0, 4, 0, 0, 9, 97) }]],
    ['a list longer than its extension', [{ type: 0, body: Buffer.of(0, 99, 0) }]],
    ['bytes behind the list', [{ type: 0, body: Buffer.of(0, 4, 0, 0, 1, 97, 1) }]],
  ];
  for (const [what, extensions] of ambiguous) {
    it(`takes ${what} for something else, as Envoy`, () => {
      assert.deepEqual(readClientHello(records(message(extensions))), OTHER);
    });
  }

  for (const [what, data] of others) {
    it(`takes ${what} for something else`, () => {
      assert.deepEqual(readClientHello(data), OTHER);
    });
  }

  it('gives up a message above 16 KiB, announced or sent', () => {
    const announced = records(Buffer.from('01004000', 'hex'));
    assert.deepEqual(readClientHello(announced), { kind: 'too_large' });
    const tiny = records(Buffer.concat([Buffer.from('01003f00', 'hex'), Buffer.alloc(9000)]), 1);
    assert.deepEqual(readClientHello(tiny.subarray(0, 16 * 1024)), { kind: 'more' });
    assert.deepEqual(readClientHello(tiny.subarray(0, 16 * 1024 + 1)), { kind: 'too_large' });
  });

  it('reads what the runtime itself sends', async () => {
    const data = await new Promise<Buffer>((resolve) => {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', (piece: Buffer) => {
          resolve(piece);
          socket.destroy();
          server.close();
        });
      }).listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo;
        const options = { servername: 'real.test', ALPNProtocols: ['h2', 'x'] };
        connect({ port, host: '127.0.0.1', ...options }).on('error', () => undefined);
      });
    });
    const hello = { serverName: 'real.test', protocols: ['h2', 'x'] };
    assert.deepEqual(readClientHello(data), { kind: 'hello', hello });
  });
});
