/**
 * Spellings of addresses are taken, printed and found in ranges as Envoy 1.40.0 did when it was
 * asked.
 */
import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compileIpRanges, IpRanges } from '../../shared/addresses/ip-ranges.ts';
import { networkOf } from '../../shared/addresses/network-of.ts';
import { parseIpAddress } from '../../workers/net/client-address.ts';
import { attackParameters } from '../support/attack.ts';

const RANGES = [
  ['10.0.0.0', 8],
  ['10.0.0.1', 32],
  ['::ffff:10.0.0.0', 104],
  ['::ffff:0:0', 96],
  ['::', 0],
  ['0.0.0.0', 0],
  ['fe80::', 10],
  ['::', 96],
  ['127.0.0.0', 8],
  ['::ffff:a00:0', 104],
  ['2001:db8::', 32],
  ['::1', 128],
] as const;

/**
 * What x-forwarded-for says, the client's address then (none: it is not taken), and which ranges
 * have it.
 */
const SPELLINGS: readonly (readonly [text: string, address: string, ranges: string])[] = [
  ['10.0.0.1', '10.0.0.1', '110001000000'],
  ['::ffff:10.0.0.1', '::ffff:10.0.0.1', '001110000100'],
  ['::ffff:a00:1', '::ffff:10.0.0.1', '001110000100'],
  ['::FFFF:A00:1', '::ffff:10.0.0.1', '001110000100'],
  ['::10.0.0.1', '::10.0.0.1', '000010010000'],
  ['0:0:0:0:0:ffff:10.0.0.1', '::ffff:10.0.0.1', '001110000100'],
  ['64:ff9b::10.0.0.1', '64:ff9b::a00:1', '000010000000'],
  ['fe80::1', 'fe80::1', '000010100000'],
  ['fe80::1%lo', 'fe80::1%1', '000010100000'],
  ['fe80::1%1', 'fe80::1%1', '000010100000'],
  ['fe80::1%eth9', '', ''],
  ['fe80::1%99', 'fe80::1%99', '000010100000'],
  ['fe80::1%0', 'fe80::1', '000010100000'],
  ['fe80::1%', '', ''],
  ['fe80::1%25lo', '', ''],
  ['[fe80::1]', '', ''],
  ['::1%lo', '', ''],
  ['10.0.0.1%lo', '', ''],
  ['[::1]', '', ''],
  ['[::1]:80', '', ''],
  ['10.0.0.1:80', '', ''],
  ['010.0.0.1', '', ''],
  ['10.1', '', ''],
  ['0x0a000001', '', ''],
  ['167772161', '', ''],
  ['::1', '::1', '000010010001'],
  ['2001:DB8::1', '2001:db8::1', '000010000010'],
  ['2001:db8:0:0:0:0:0:1', '2001:db8::1', '000010000010'],
  ['2001:0db8::0001', '2001:db8::1', '000010000010'],
  ['::', '::', '000010010000'],
  ['0.0.0.0', '0.0.0.0', '000001000000'],
  ['255.255.255.255', '255.255.255.255', '000001000000'],
  ['1.2.3.4.5', '', ''],
  ['::ffff:10.0.0.256', '', ''],
  [':::', '', ''],
  ['1::2::3', '', ''],
  ['::ffff:0:10.0.0.1', '::ffff:0:a00:1', '000010000000'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0', '000010000000'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8', '000010000000'],
  ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8', '000010000000'],
  ['12345::1', '', ''],
  ['10.0.0. 1', '', ''],
  ['::0.0.0.1', '::1', '000010010001'],
  ['::0.1.2.3', '::0.1.2.3', '000010010000'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3', '000010000000'],
  ['1:0:0:2:0:0:3:4', '1::2:0:0:3:4', '000010000000'],
  ['ff02::1%lo', 'ff02::1%1', '000010000000'],
  ['2001:db8::1%lo', '', ''],
  ['::ffff:1.2.3.4%lo', '', ''],
  ['fe80::1%lo%lo', '', ''],
  ['fe80::1%LO', '', ''],
  ['fe80::1%4294967295', 'fe80::1%4294967295', '000010100000'],
  ['fe80::1%4294967296', '', ''],
  ['fe80::1%-1', '', ''],
];

/** All bits of an address of either family, by BigInt: as slow as it is plain. */
function bitsOf(ip: string): string {
  if (!isIPv6(ip))
    return ip
      .split('.')
      .map((octet) => Number(octet).toString(2).padStart(8, '0'))
      .join('');
  const [head = '', tail = ''] = ip.split('::');
  const groups = (text: string): readonly string[] => (text === '' ? [] : text.split(':'));
  const missing = ip.includes('::') ? 8 - groups(head).length - groups(tail).length : 0;
  return [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail)]
    .map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0'))
    .join('');
}

describe('spellings of addresses', () => {
  const ranges = RANGES.map(([address, prefixLength]) =>
    compileIpRanges([{ address, prefixLength }]),
  );

  for (const [text, address, inside] of SPELLINGS) {
    it(`${text} is ${address === '' ? 'no address' : `${address} in ${inside}`}`, () => {
      const found = parseIpAddress(text)?.ip ?? '';
      assert.equal(found, address);
      if (found === '') return;
      assert.equal(ranges.map((contains) => (contains(found) ? '1' : '0')).join(''), inside);
    });
  }

  it('of the other family overlap with no network', () => {
    assert.equal(networkOf('::ffff:10.0.0.0', 104), networkOf('::ffff:a00:0', 104));
    assert.notEqual(networkOf('::ffff:10.0.0.0', 104), networkOf('::ffff:127.0.0.0', 104));
  });
});

describe('ranges of addresses', () => {
  const address = fc.oneof(
    fc.ipV4(),
    fc.ipV6().filter((text) => !text.includes('.')),
    fc.constantFrom('::', '::1', '0.0.0.0', '255.255.255.255', 'ffff:ffff::', '10.0.0.1'),
  );
  const range = fc.record({ address, prefixLength: fc.nat(128) });

  it('hold what their prefixes say, the narrowest first', () => {
    const property = fc.property(fc.array(range, { maxLength: 30 }), address, (list, ip) => {
      const known = new IpRanges<number>();
      for (const [at, each] of list.entries()) known.add(each, at);
      const bits = bitsOf(ip);
      const lengthOf = (at: number): number => Math.min(list[at]?.prefixLength ?? 0, bits.length);
      const expected = [...list.keys()]
        .filter((at) => {
          const prefix = bitsOf(list[at]?.address ?? '');
          return prefix.length === bits.length && bits.startsWith(prefix.slice(0, lengthOf(at)));
        })
        .toSorted((left, right) => lengthOf(right) - lengthOf(left) || left - right);
      assert.deepEqual([...known.find(ip)], expected);
      assert.equal(
        known.narrowest(ip),
        expected[0] === undefined ? undefined : lengthOf(expected[0]),
      );
    });
    fc.assert(property, attackParameters(2000, 500_000));
  });

  it('are as quick to ask when there are 100,000 of them', () => {
    const list = Array.from({ length: 100_000 }, (_, at) => ({
      address: `${1 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}.0`,
      prefixLength: 24 + (at % 9),
    }));
    const contains = compileIpRanges(list);
    const begun = process.cpuUsage();
    for (let at = 0; at < 10_000; at++) assert.equal(contains(`9.0.${at & 255}.1`), false);
    // A list that is looked through takes a millisecond for each.
    assert.ok(process.cpuUsage(begun).user < 1_000_000);
  });
});
