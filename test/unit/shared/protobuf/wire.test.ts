/** What the writer writes and the reader reads, against protobufjs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import protobuf from 'protobufjs/minimal.js';
import { readMessage, visitFields } from '../../../../shared/protobuf/proto-reader.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import { keyBytes, lengthDelimited, varintBytes } from '../../../../shared/protobuf/records.ts';
import { Wire } from '../../../../shared/protobuf/wire.ts';

const fieldNumber = fc.integer({ min: 1, max: 2 ** 29 - 1 });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

function theirVarint(field: number, value: bigint): Buffer {
  const writer = protobuf.Writer.create().uint32(((field << 3) >>> 0) | Wire.varint);
  return Buffer.from(writer.uint64(value.toString()).finish());
}

function valuesIn(bytes: Buffer): readonly (bigint | undefined)[] | undefined {
  return readMessage(bytes, (whole) => {
    const values: (bigint | undefined)[] = [];
    visitFields(whole, (field) => values.push(field.uint64()));
    return values;
  });
}

describe('protobuf on the wire', () => {
  it('has whole numbers of 64 bits as protobufjs writes them, and reads them again', () => {
    fc.assert(
      fc.property(fieldNumber, uint64, (field, value) => {
        const writer = new ProtoWriter();
        writer.uint64(field, value);
        const bytes = Buffer.from(writer.finish());
        assert.deepEqual(bytes, theirVarint(field, value));
        assert.deepEqual(Buffer.concat([keyBytes(field, Wire.varint), varintBytes(value)]), bytes);
        assert.deepEqual(valuesIn(bytes), [value]);
      }),
    );
  });

  it('has messages inside of others alike, written in one piece or record by record', () => {
    fc.assert(
      fc.property(fieldNumber, fc.array(fc.uint8Array({ maxLength: 300 })), (field, items) => {
        const writer = new ProtoWriter();
        for (const item of items) {
          writer.message(field, () => writer.message(1, () => writer.bytes(2, item)));
        }
        const records = items.map((item) => {
          const inner = item.length === 0 ? Buffer.alloc(0) : lengthDelimited(2, Buffer.from(item));
          return lengthDelimited(field, lengthDelimited(1, inner));
        });
        assert.deepEqual(Buffer.from(writer.finish()), Buffer.concat(records));
      }),
    );
  });

  it('tells what came before a message breaks off, and that it is none', () => {
    const whole = Buffer.concat([theirVarint(1, 7n), theirVarint(2, 300n)]);
    const seen: (bigint | undefined)[] = [];
    const read = readMessage(whole.subarray(0, whole.length - 1), (bytes) => {
      visitFields(bytes, (field) => seen.push(field.uint64()));
      return true;
    });
    assert.equal(read, undefined);
    assert.deepEqual(seen, [7n]);
  });
});
