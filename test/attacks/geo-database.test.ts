/** Databases of locations that break their format: a look-up answers or not, and never for long. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MaxmindDatabase } from '../../shared/geo/maxmind-database.ts';
import { attackParameters } from '../support/attack.ts';
import { geoDatabase } from '../support/geo-database.ts';

const whole = geoDatabase('City', {
  '10.1.0.0/16': { city: { names: { en: 'A', de: 'B' } }, subdivisions: [{ iso_code: 'C' }] },
  '10.2.0.0/16': { country: { iso_code: 'FR' } },
});
const PATHS = [
  ['city', 'names', 'en'],
  ['subdivisions', 0, 'iso_code'],
] as const;

function ask(bytes: Buffer): void {
  let database: MaxmindDatabase;
  try {
    database = new MaxmindDatabase(bytes);
  } catch (error) {
    assert.equal((error as Error).message, 'The MaxMind DB file contains invalid metadata');
    return;
  }
  for (const address of ['10.1.2.3', '10.2.2.3', '::1', 'ffff::', 'none', '']) {
    for (const value of database.find(address, PATHS) ?? []) {
      assert.ok(['string', 'number', 'boolean', 'undefined'].includes(typeof value));
    }
  }
}

describe('a database of locations', () => {
  it('answers as it was made', () => {
    const database = new MaxmindDatabase(whole);
    assert.deepEqual(database.find('10.1.9.9', PATHS), ['A', 'C']);
    assert.deepEqual(database.find('10.2.9.9', PATHS), [undefined, undefined]);
    assert.equal(database.find('10.3.0.1', PATHS), undefined);
    assert.equal(database.find('::ffff:10.1.9.9', PATHS), undefined);
  });

  it('survives any bytes that are changed in it', () => {
    const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
        const bytes = Buffer.from(whole);
        for (const [place, byte] of changes) bytes[place] = byte;
        ask(bytes);
      }),
      attackParameters(2000, 200_000),
    );
  });

  it('survives any end and any beginning', () => {
    fc.assert(
      fc.property(fc.nat(whole.length), fc.nat(whole.length), (from, to) => {
        ask(whole.subarray(from, to));
      }),
      attackParameters(2000, 50_000),
    );
  });
});
