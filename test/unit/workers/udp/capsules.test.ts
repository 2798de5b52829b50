/** Capsules of any bytes, in pieces of any size. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CapsuleReader, datagramCapsule } from '../../../../workers/udp/capsules.ts';
import { attackParameters } from '../../../support/attack.ts';

function readPieces(data: Buffer, sizes: readonly number[]): { payloads: Buffer[]; ok: boolean } {
  const payloads: Buffer[] = [];
  const reader = new CapsuleReader((payload) => payloads.push(payload));
  let ok = true;
  for (let at = 0, turn = 0; at < data.length && ok; turn += 1) {
    const end = at + (sizes[turn % sizes.length] ?? 1);
    ok = reader.read(data.subarray(at, end));
    at = end;
  }
  return { payloads, ok: ok && reader.isBetween };
}

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });

describe('capsules', () => {
  it('give the same datagrams however they are cut', () => {
    const payload = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    const property = fc.property(fc.array(payload), sizes, (payloads, cuts) => {
      const read = readPieces(Buffer.concat(payloads.map(datagramCapsule)), cuts);
      assert.deepEqual(read, { payloads, ok: true });
    });
    fc.assert(property, attackParameters(200, 20_000));
  });

  it('of any length that a datagram has are read again', () => {
    for (const length of [0, 62, 63, 64, 16_382, 16_383, 16_384, 65_507]) {
      const payloads = [Buffer.alloc(length, 7)];
      assert.deepEqual(readPieces(datagramCapsule(Buffer.alloc(length, 7)), [9_999]), {
        payloads,
        ok: true,
      });
    }
  });

  it('of any bytes are read or refused, the same in pieces', () => {
    const property = fc.property(fc.uint8Array(), sizes, (bytes, cuts) => {
      const data = Buffer.from(bytes);
      const whole = readPieces(data, [Math.max(1, data.length)]);
      const cut = readPieces(data, cuts);
      assert.deepEqual(cut, whole);
    });
    fc.assert(property, attackParameters(500, 50_000));
  });

  it('promise nothing: a length that nobody sends takes no memory', () => {
    const reader = new CapsuleReader(() => undefined);
    assert.equal(reader.read(Buffer.from([0, 0xbf, 0xff, 0xff, 0xff])), false);
    const other = new CapsuleReader(() => undefined);
    assert.equal(other.read(Buffer.from([9, 0xff, 255, 255, 255, 255, 255, 255, 255])), false);
  });
});
