import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { elementAt } from '../../../../shared/tls/der.ts';
import { readOtherName } from '../../../../shared/tls/other-name.ts';
import { der } from '../../../support/parts/certificate-builder.ts';

const OID = der(6, Buffer.of(0x2a, 0x03, 0x04));
const text = (value: string): Buffer => Buffer.from(value);

function read(...parts: readonly Buffer[]): { oid: string; value: string } | undefined {
  const data = der(0xa0, ...parts);
  const element = elementAt(data, 0);
  assert.ok(element !== undefined);
  return readOtherName(data, element);
}

describe('the value of an other name', () => {
  const values: readonly (readonly [what: string, value: Buffer, shown: string])[] = [
    ['UTF-8', der(12, text('hé')), text('hé').toString('latin1')],
    ['IA5', der(22, text('abc')), 'abc'],
    ['BMP', der(30, Buffer.from('\0h\0é', 'latin1')), text('hé').toString('latin1')],
    ['half a BMP character', der(30, Buffer.of(0, 0x61, 0)), ''],
    ['a surrogate', der(30, Buffer.of(0xd8, 0x00)), ''],
    ['universal', der(28, Buffer.of(0, 0, 0, 0x61)), 'a'],
    ['a character beyond Unicode', der(28, Buffer.of(0xff, 0, 0, 0)), ''],
    ['a number', der(2, Buffer.of(1, 0x2c)), '300'],
    ['a negative number', der(2, Buffer.of(0xf9)), '-7'],
    ['an empty number', der(2), ''],
    ['a huge number', der(2, Buffer.alloc(4096, 1)), ''],
    ['enumerated', der(10, Buffer.of(5)), '5'],
    ['true', der(1, Buffer.of(0xff)), 'true'],
    ['false', der(1, Buffer.of(0)), 'false'],
    ['nothing', der(5), ''],
    ['numeric', der(18, text('123')), ''],
    ['an identifier', OID, '1.2.3.4'],
    ['bits', der(3, Buffer.of(0), text('ab')), 'ab'],
    ['no bits', der(3), ''],
    ['a sequence', der(0x30, der(12, text('a'))), '0\u0003\f\u0001a'],
  ];
  for (const [what, value, shown] of values) {
    it(`is read from ${what}`, () => {
      assert.deepEqual(read(OID, der(0xa0, value)), { oid: '1.2.3.4', value: shown });
    });
  }

  it('is not there in what is malformed', () => {
    const name = der(12, text('a'));
    assert.equal(read(), undefined);
    assert.equal(read(OID), undefined);
    assert.equal(read(OID, name), undefined);
    assert.equal(read(der(0xa0, name), OID), undefined);
    assert.equal(read(OID, der(0xa0, name, name)), undefined);
    assert.equal(read(OID, der(0xa0, name), name), undefined);
    assert.equal(read(OID, der(0xa0, name.subarray(0, 2))), undefined);
    assert.equal(read(OID, der(0xa0, name), Buffer.of(0xff)), undefined);
  });
});
