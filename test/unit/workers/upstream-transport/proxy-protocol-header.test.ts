import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ipAddress, pipeAddress } from '../../../../workers/net/addresses.ts';
import { proxyProtocolHeader } from '../../../../workers/upstream-transport/proxy-protocol-header.ts';

const V4 = { remoteAddress: ipAddress('1.2.3.4', 5), localAddress: ipAddress('10.0.0.1', 443) };
const V6 = { remoteAddress: ipAddress('2001:db8::1', 5), localAddress: ipAddress('::1', 443) };
const PIPE = { remoteAddress: pipeAddress(''), localAddress: pipeAddress('/run/s') };
const MIXED = { remoteAddress: V4.remoteAddress, localAddress: V6.localAddress };
const SIGNATURE = '0d0a0d0a000d0a515549540a';

describe('the text header', () => {
  for (const [client, header] of [
    [V4, 'PROXY TCP4 1.2.3.4 10.0.0.1 5 443\r\n'],
    [V6, 'PROXY TCP6 2001:db8::1 ::1 5 443\r\n'],
    [PIPE, 'PROXY UNKNOWN\r\n'],
    [MIXED, 'PROXY UNKNOWN\r\n'],
    [undefined, 'PROXY UNKNOWN\r\n'],
  ] as const) {
    it(`is ${JSON.stringify(header)}`, () => {
      const bytes = proxyProtocolHeader({ version: 'V1', tlvs: [] }, client);
      assert.equal(bytes.toString('latin1'), header);
    });
  }
});

describe('the binary header', () => {
  const header = (client: typeof V4 | undefined, tlvs: readonly object[] = []): string =>
    proxyProtocolHeader(
      { version: 'V2', tlvs: tlvs as { type: number; value: string }[] },
      client,
    ).toString('hex');

  it('holds IPv4 addresses and ports', () => {
    assert.equal(header(V4), `${SIGNATURE}2111000c010203040a000001000501bb`);
  });

  it('holds IPv6 addresses with their zeros, and mapped ones', () => {
    const source = '20010db8000000000000000000000001';
    const destination = '00000000000000000000000000000001';
    assert.equal(header(V6), `${SIGNATURE}21210024${source}${destination}000501bb`);
    const mapped = { ...V6, remoteAddress: ipAddress('::ffff:1.2.3.4', 5) };
    assert.match(header(mapped), /^.{32}00000000000000000000ffff01020304/);
  });

  it('counts additions in its length', () => {
    const tlvs = [{ type: 0xf0, value: Buffer.from('abc').toString('base64') }];
    assert.equal(header(V4, tlvs), `${SIGNATURE}21110012010203040a000001000501bbf00003616263`);
  });

  it('speaks of nobody but itself without two addresses of a family', () => {
    for (const client of [undefined, PIPE, MIXED]) {
      assert.equal(header(client), `${SIGNATURE}20000000`);
    }
  });
});
