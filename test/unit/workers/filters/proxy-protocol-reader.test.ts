import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { EarlyInfo, FilterVerdict } from '../../../../workers/listener/listener-filter.ts';
import type { ProxyProtocolFilter } from '../../../../shared/resources/filters/listener/proxy-protocol.ts';
import { ProxyProtocolReader } from '../../../../workers/filters/listener/proxy-protocol.ts';
import { ipAddress } from '../../../../workers/net/addresses.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { proxyProtocolHeader } from '../../../../workers/upstream-transport/proxy-protocol-header.ts';

interface Seen {
  readonly verdict: FilterVerdict;
  readonly remote: string | undefined;
  readonly local: string | undefined;
}

const PLAIN = {
  kind: 'proxy_protocol',
  allowsWithout: false,
  disallowedVersions: [],
  statPrefix: '',
  rules: [],
} as const;

function read(data: Buffer | string, allowsWithout = false): Seen {
  const { verdict, facts } = readAll(data, { ...PLAIN, allowsWithout });
  return { verdict, remote: facts.remote?.text, local: facts.local?.text };
}

function readAll(
  data: Buffer | string,
  config: ProxyProtocolFilter,
): { readonly verdict: FilterVerdict; readonly facts: EarlyInfo } {
  const reader = new ProxyProtocolReader(config, new WorkerStatStore());
  const facts: EarlyInfo = {
    serverName: '',
    transportProtocol: 'raw_buffer',
    applicationProtocols: [],
    remote: undefined,
    local: undefined,
    metadata: undefined,
    proxyTlvs: undefined,
    fingerprints: undefined,
  };
  const verdict = reader.inspect(Buffer.from(data as string, 'latin1'), facts);
  return { verdict, facts };
}

describe('the text header', () => {
  for (const [line, remote, local] of [
    ['PROXY TCP4 1.2.3.4 5.6.7.8 1 65535\r\n', '1.2.3.4:1', '5.6.7.8:65535'],
    ['PROXY TCP6 ::1 2001:db8::2 80 443\r\n', '[::1]:80', '[2001:db8::2]:443'],
    ['PROXY UNKNOWN\r\n', undefined, undefined],
    ['PROXY UNKNOWN ffff f 1 2\r\n', undefined, undefined],
  ] as const) {
    it(`is read: ${JSON.stringify(line)}`, () => {
      assert.deepEqual(read(`${line}GET`), { verdict: { consumed: line.length }, remote, local });
    });
  }

  for (const line of [
    'PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 65536\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 -1 2\r\n',
    'PROXY TCP4 ::1 5.6.7.8 1 2\r\n',
    'PROXY TCP6 1.2.3.4 ::1 1 2\r\n',
    'PROXY TCP4 1.2.3 5.6.7.8 1 2\r\n',
    'PROXY UDP4 1.2.3.4 5.6.7.8 1 2\r\n',
    `PROXY TCP4 ${'1'.repeat(110)}`,
  ]) {
    it(`is refused: ${JSON.stringify(line.slice(0, 40))}`, () => {
      assert.equal(read(line).verdict, 'refuse');
    });
  }

  it('is waited for byte by byte, and only as long as it can be one', () => {
    const line = 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n';
    for (let length = 1; length < line.length; length += 1) {
      assert.equal(read(line.slice(0, length)).verdict, 'more');
    }
    assert.equal(read('PROX1').verdict, 'refuse');
    assert.equal(read('GET / HTTP/1.1\r\n', true).verdict, 'done');
  });
});

describe('the binary header', () => {
  const address = fc.record({
    ip: fc.oneof(fc.ipV4(), fc.ipV6()),
    port: fc.integer({ min: 0, max: 65_535 }),
  });

  it('says what was written, whatever the addresses and wherever it is cut', () => {
    fc.assert(
      fc.property(address, address, fc.base64String({ maxLength: 40 }), (from, to, value) => {
        const isV6 = from.ip.includes(':');
        fc.pre(isV6 === to.ip.includes(':'));
        const client = {
          remoteAddress: ipAddress(from.ip, from.port),
          localAddress: ipAddress(to.ip, to.port),
        };
        const bytes = proxyProtocolHeader({ version: 'V2', tlvs: [{ type: 1, value }] }, client);
        const seen = read(Buffer.concat([bytes, Buffer.from('x')]));
        assert.deepEqual(seen.verdict, { consumed: bytes.length });
        assert.equal(seen.remote?.endsWith(`:${from.port}`), true);
        assert.equal(seen.local?.endsWith(`:${to.port}`), true);
        if (!isV6) assert.equal(seen.remote, client.remoteAddress.text);
        assert.equal(read(bytes.subarray(0, bytes.length - 1)).verdict, 'more');
      }),
      { numRuns: 200 },
    );
  });

  for (const [what, bytes] of [
    ['another command', [0x22, 0x11, 0, 12]],
    ['another version', [0x11, 0x11, 0, 12]],
    ['addresses that are too short', [0x21, 0x11, 0, 4, 1, 2, 3, 4]],
  ] as const) {
    it(`is refused with ${what}`, () => {
      const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
      const rest = Buffer.alloc(16);
      const data = Buffer.concat([signature, Buffer.from(bytes), rest]);
      assert.equal(read(data).verdict, 'refuse');
    });
  }
});

describe('additions to the binary header', () => {
  const client = {
    remoteAddress: ipAddress('1.2.3.4', 1),
    localAddress: ipAddress('5.6.7.8', 2),
  };
  const tlvs = [
    { type: 2, value: Buffer.from('first') },
    { type: 0xe0, value: Buffer.from([0x61, 0xff, 0xc3, 0xa9]) },
    { type: 2, value: Buffer.from('second') },
  ];
  const header = proxyProtocolHeader(
    { version: 'V2', tlvs: [], passedOn: 'all' },
    { ...client, proxyTlvs: tlvs },
  );
  const rules = [
    { type: 2, namespace: 'own', key: 'authority', encoding: 'utf8' },
    { type: 0xe0, namespace: 'own', key: 'text', encoding: 'utf8' },
    { type: 0xe0, namespace: 'other', key: 'bytes', encoding: 'base64' },
    { type: 9, namespace: 'other', key: 'absent', encoding: 'utf8' },
  ] as const;

  it('become metadata by rules: the first of a type, as UTF-8 or base64', () => {
    const { facts } = readAll(header, { ...PLAIN, rules });
    assert.deepEqual(structuredClone(Object.fromEntries(facts.metadata ?? [])), {
      own: { authority: 'first', text: 'a!\u00e9' },
      other: { bytes: 'Yf/DqQ==' },
    });
    assert.deepEqual(facts.proxyTlvs, []);
  });

  it('go on to hosts where both sides let them, and not beside configured ones of their type', () => {
    const { facts } = readAll(header, { ...PLAIN, passedOn: [0xe0, 2] });
    const sent = (passedOn: 'all' | readonly number[]): string =>
      proxyProtocolHeader(
        { version: 'V2', tlvs: [{ type: 2, value: 'b3du' }], passedOn },
        { ...client, proxyTlvs: facts.proxyTlvs },
      )
        .subarray(28)
        .toString('latin1');
    assert.equal(sent('all'), '\x02\0\x03own\xe0\0\x04a\xff\xc3\xa9');
    assert.equal(sent([2]), '\x02\0\x03own');
  });

  it('refuse the connection when they are broken and somebody asks for them', () => {
    const broken = Buffer.from(header);
    broken.writeUInt16BE(broken.readUInt16BE(14) - 3, 14);
    assert.equal(readAll(broken, { ...PLAIN, rules }).verdict, 'refuse');
    assert.notEqual(readAll(broken, PLAIN).verdict, 'refuse');
  });
});
