/** Texts are addresses exactly where the runtime says that they are. */
import assert from 'node:assert/strict';
import * as net from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isIP, isIPv4, isIPv6 } from '../../../../shared/addresses/ip-text.ts';

const ODD = [
  '',
  ':',
  '::',
  ':::',
  '1::',
  '::1',
  '1:2:3:4:5:6:7::',
  '::2:3:4:5:6:7:8',
  '1::3:4:5:6:7:8',
  '1:2:3:4:5:6:7:8',
  '1:2:3:4:5:6:7:8:',
  '1:2:3:4:5:6:7::8',
  '1:2:3:4:5:6:1.2.3.4',
  '1:2:3:4:5:6:7:1.2.3.4',
  '::1.2.3.4:5',
  '1.2.3.4::',
  '::ffff:256.0.0.1',
  'fe80::1%eth0',
  'fe80::1%',
  'fe80::1%e%0',
  '1.2.3.4%eth0',
  '01.2.3.4',
  '1.2.3',
  '1.2.3.4.',
  ' 1.2.3.4',
  '::1\n',
  '١.2.3.4',
  '12345::',
  'g::',
];

/** Parts of addresses in any order: most are nearly one. */
const pieces = fc.constantFrom(
  '0',
  '9',
  '01',
  '255',
  '256',
  'a',
  'FFFF',
  'g',
  ':',
  '::',
  '.',
  '%',
  '-',
  '\n',
  ' ',
);
const groups = fc.array(fc.constantFrom('0', 'ab', '1234', 'F', '', '1.2.3.4'), { maxLength: 10 });
const quads = fc.array(fc.nat(300).map(String), { minLength: 3, maxLength: 5 });
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 16 }).map((some) => some.join('')),
  groups.map((some) => some.join(':')),
  quads.map((some) => some.join('.')),
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV6().map((text) => `${text}%eth0`),
);

const agrees = (text: string): void => {
  assert.equal(isIP(text), net.isIP(text), JSON.stringify(text));
  assert.equal(isIPv4(text), net.isIPv4(text), JSON.stringify(text));
  assert.equal(isIPv6(text), net.isIPv6(text), JSON.stringify(text));
};

describe('texts of addresses', () => {
  it('odd ones are what the runtime says', () => {
    ODD.forEach(agrees);
  });

  it('any is what the runtime says', () => {
    fc.assert(fc.property(texts, agrees), { numRuns: 20_000 });
  });
});
