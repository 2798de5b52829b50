/**
 * What a peer puts into a log stays in its line: text logs, JSON logs and the server's own
 * messages, with every byte and class of code points, through the formatters and from a client's
 * socket to a file.
 */
import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { defaultLogFormat } from '../../shared/logging/default-format.ts';
import { LogSystem } from '../../shared/logging/log-system.ts';
import { compileLogFormat } from '../../workers/substitution/compile-format.ts';
import { startDataPlane } from '../support/parts/data-plane.ts';
import { HOSTILE_TEXTS, hostileUnits } from '../support/peers/hostile/hostile-text.ts';
import { openRaw } from '../support/peers/raw-client.ts';
import { direct, prefix, route } from '../support/parts/routes.ts';
import { makeScratch } from '../support/scratch.ts';
import { connectionInfo, requestHeaders, streamInfo } from '../support/parts/stream.ts';
import { waitUntil } from '../support/wait.ts';

const units = hostileUnits().map((unit) => `a${String.fromCharCode(unit)}b`);
const texts = [
  ...HOSTILE_TEXTS,
  ...units,
  'a\xc2\x85b',
  'a\xe2\x80\xa8b',
  '\xc3\xa9',
  '\xc3',
  '\x1b[2J',
];

/** As files get it: each character cut to eight bits. */
function written(line: string): Buffer {
  return Buffer.from(line, 'latin1');
}

function isOneLine(line: Buffer): boolean {
  const text = line.toString('utf8');
  return (
    isUtf8(line) &&
    text.endsWith('\n') &&
    !/[\p{Cc}\u2028\u2029]/u.test(text.slice(0, -1).replaceAll('\t', ''))
  );
}

describe('log lines', () => {
  const text = compileLogFormat({
    kind: 'text',
    format: '%REQUESTED_SERVER_NAME% "%REQ(X-Q)%" %DYNAMIC_METADATA(ns:key)%\n',
    omitEmptyValues: false,
  });
  const json = compileLogFormat({
    kind: 'json',
    fields: { sni: '%REQUESTED_SERVER_NAME%', q: 'q %REQ(X-Q)%', m: '%DYNAMIC_METADATA(ns:key)%' },
    omitEmptyValues: false,
    sortProperties: true,
  });
  const stream = (value: string) => {
    const info = streamInfo(requestHeaders('/'), connectionInfo({ requestedServerName: value }));
    info.requestHeaders?.add('x-q', value);
    info.dynamicMetadata = new Map([['ns', { key: value }]]);
    return info;
  };

  it('stay one line of UTF-8 as text', () => {
    for (const value of texts) {
      const line = written(text(stream(value)));
      assert.ok(isOneLine(line), JSON.stringify([value, line.toString('latin1')]));
    }
  });

  it('stay one line of JSON', () => {
    for (const value of texts) {
      const line = written(json(stream(value)));
      assert.ok(isUtf8(line), JSON.stringify(value));
      assert.equal(line.indexOf('\n'), line.length - 1, JSON.stringify(value));
      assert.deepEqual(Object.keys(JSON.parse(line.toString('utf8')) as object), ['m', 'q', 'sni']);
    }
  });

  it('say what was there', () => {
    const escaped = (value: string) => text(stream(value)).split('"')[1];
    assert.equal(escaped('a\r\nb\x1b\x7f'), 'a\\r\\nb\\x1b\\x7f');
    assert.equal(escaped('\xc3\xa9\tx\\n'), '\xc3\xa9\tx\\n');
    assert.equal(escaped('\xc3\xa9\n\xff'), '\\xc3\\xa9\\n\\xff');
    assert.equal(escaped('\u010a'), '\xc4\x8a');
    const own = compileLogFormat({
      kind: 'text',
      format: 'a\nb\t%REQ(X-Q)%\n\n',
      omitEmptyValues: false,
    });
    assert.equal(own(stream('x\ny')), 'a\nb\tx\\ny\n\n');
  });

  for (const [format, isEscaped] of [
    [defaultLogFormat, false],
    ['%v', false],
    ['%v', true],
    ['%_', false],
    ['{"message":"%j"%*}', false],
    ['%+%*', false],
    ['%+%*', true],
    ['%200v|%3!+', false],
  ] as const) {
    const how = isEscaped ? ', escaped as in C,' : '';
    it(`stay one line where the server quotes a peer as ${format}${how}`, () => {
      using scratch = makeScratch();
      const path = scratch.file('server.log');
      const log = new LogSystem();
      const levels = { default: 'info', components: {}, files: [] } as const;
      const flags = { isEscaped, isFineGrain: false, isStackSingleEntry: true };
      log.configure({ levels, format, path, ...flags });
      const logger = log.getLogger('config');
      for (const value of texts) logger.warning(`name: ${value}`, { Peer: value });
      const bytes = readFileSync(path);
      assert.ok(isUtf8(bytes));
      const lines = bytes.toString('utf8').split('\n').slice(0, -1);
      assert.equal(lines.length, texts.length);
      for (const [at, line] of lines.entries()) {
        assert.doesNotMatch(line.replaceAll('\t', ''), /[\p{Cc}\u2028\u2029]/u, texts[at]);
        if (format.startsWith('{')) {
          const { message, Peer } = JSON.parse(line) as Record<'message' | 'Peer', string>;
          const value = texts[at] ?? '';
          assert.ok(message.startsWith('[Tags: "Peer":"') && message.endsWith(`name: ${value}`));
          assert.equal(Peer, value);
        }
      }
    });
  }

  it('are as many as requests in a file', async () => {
    using scratch = makeScratch();
    const path = scratch.file('access.log');
    const format = {
      kind: 'text',
      format: '%QUERY_PARAM(q)%|%REQ(X-Q)%\n',
      omitEmptyValues: false,
    } as const;
    const accessLogs = [{ kind: 'lines', sink: { kind: 'file', path }, format }] as const;
    await using plane = await startDataPlane({
      manager: { accessLogs },
      routes: [route(prefix('/'), direct({ body: Buffer.from('ok') }))],
      heritage: { fileFlushIntervalMs: 10 },
    });
    const client = await openRaw(plane.port);
    for (let byte = 0; byte < 256; byte++) {
      const code = byte.toString(16).padStart(2, '0');
      const raw = byte >= 0x80 ? String.fromCharCode(byte) : 'x';
      const before = client.received().length;
      client.send(`GET /?q=a%${code}b HTTP/1.1\r\nhost: h\r\nx-q: ${raw}\r\n\r\n`);
      await client.until((received) => received.length > before && received.endsWith('ok'));
    }
    client.destroy();
    await waitUntil('the log', () => readFileSync(path, 'latin1').split('\n').length >= 257);
    const lines = readFileSync(path, 'latin1').split('\n');
    assert.equal(lines.length, 257);
    for (const line of lines.slice(0, 256)) assert.match(line, /^a[^]*b\|/);
    assert.ok(isUtf8(readFileSync(path)));
  });
});
