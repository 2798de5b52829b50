import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  exactNumber,
  shortestNumber,
  sixDigitNumber,
} from '../../../../supervisor/stats-output/render/number-format.ts';

const cases: readonly (readonly [value: number, shortest: string, six: string, exact: string])[] = [
  [0, '0', '0', '0'],
  [0.5, '0.5', '0.5', '0.5'],
  [60_000, '60000', '60000', '60000'],
  [300_000, '3e+05', '300000', '300000'],
  [1_800_000, '1800000', '1.8e+06', '1800000'],
  [1_000_000, '1e+06', '1e+06', '1000000'],
  [1.05, '1.05', '1.05', '1.0500000000000000444089209850063'],
  [4.033333333333333, '4.033333333333333', '4.03333', '4.0333333333333332149095440399833'],
  [509.99999999999994, '509.99999999999994', '510', '509.99999999999994315658113919199'],
  [49424.441598750236, '49424.441598750236', '49424.4', '49424.441598750236153136938810349'],
];
for (const [value, shortest, six, exact] of cases) {
  test(`${value} is printed as Envoy prints it`, () => {
    assert.deepEqual(
      [shortestNumber(value), sixDigitNumber(value), exactNumber(value)],
      [shortest, six, exact],
    );
  });
}

test('shortest and exact texts read back as the same number', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e15, noNaN: true }), (value) => {
      assert.equal(Number(shortestNumber(value)), value);
      const exact = Number(exactNumber(value));
      assert.ok(Math.abs(exact - value) <= value * 1e-15, `${exact} for ${value}`);
    }),
  );
});

test('no value is null in JSON', () => assert.equal(shortestNumber(Number.NaN), 'null'));
