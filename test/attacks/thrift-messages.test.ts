/** Thrift messages of any bytes: each is read, or refused with one of two errors, and soon. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readThriftMessage } from '../../shared/thrift/thrift-message.ts';
import { ThriftError } from '../../shared/thrift/thrift-reader.ts';
import { attackParameters } from '../support/attack.ts';
import { binaryMessage, CALL, compactMessage, framed, withHeaders } from '../support/thrift.ts';

function read(bytes: Buffer): void {
  try {
    const { body } = readThriftMessage(bytes, 'auto', 'auto');
    body.beginStruct();
    for (let field = body.field(); field !== undefined; field = body.field()) {
      body.value(field.type);
    }
  } catch (error) {
    assert.ok(error instanceof ThriftError || error instanceof RangeError, String(error));
  }
}

describe('a Thrift message', () => {
  it('may hold any bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each));
    fc.assert(
      fc.property(bytes, (body) => {
        for (const message of [
          binaryMessage('a', CALL, 1, body),
          compactMessage('a', CALL, 1, body),
        ]) {
          for (const each of [message, framed(message), withHeaders(message, {}, 1)]) read(each);
        }
        read(body);
      }),
      attackParameters(2000, 200_000),
    );
  });

  it('promises no more than it has: nesting, elements and lengths are bounded', () => {
    const deep = Buffer.alloc(200_000, Buffer.from([12, 0, 1]));
    const wide = Buffer.from([15, 0, 1, 2, 0x7f, 0xff, 0xff, 0xff]);
    const long = Buffer.from([11, 0, 1, 0x7f, 0xff, 0xff, 0xff]);
    const lists = Buffer.alloc(200_000, 0x19);
    for (const body of [deep, wide, long]) read(binaryMessage('a', CALL, 1, body));
    read(compactMessage('a', CALL, 1, lists));
  });
});
