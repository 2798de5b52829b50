import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readValue } from '../../../../shared/protobuf/struct-message.ts';
import { dictionary } from '../../../../shared/text/dictionary.ts';

function varint(number: number): Buffer {
  const bytes = [];
  let rest = number;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

function part(field: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
}

function member(key: string, value: Buffer): Buffer {
  return part(1, Buffer.concat([part(1, Buffer.from(key)), part(2, value)]));
}

const TRUE = Buffer.from([0x20, 1]);
const FALSE = Buffer.from([0x20, 0]);

function lists(depth: number): Buffer {
  return depth === 0 ? TRUE : part(6, part(1, lists(depth - 1)));
}

function structs(depth: number): Buffer {
  return depth === 0 ? TRUE : part(5, member('k', structs(depth - 1)));
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

/** By Envoy's reader; undefined: it refuses the bytes. */
const MESSAGES: readonly (readonly [name: string, bytes: Buffer, value: unknown])[] = [
  ['nothing', hex(''), null],
  ['a null', hex('0800'), null],
  ['a null of another number', hex('0805'), null],
  ['a number', hex('110000000000000440'), 2.5],
  ['a cut number', hex('110000'), undefined],
  ['a text', part(3, Buffer.from('é€😀')), 'é€😀'],
  ['a text that is not UTF-8', hex('1a02fffe'), undefined],
  ['a surrogate', hex('1a03eda080'), undefined],
  ['a cut text', hex('1a0361'), undefined],
  ['a Boolean', TRUE, true],
  ['a Boolean of 2', hex('2002'), true],
  ['a Boolean of ten bytes', hex('20ffffffffffffffffff01'), true],
  ['a false one of ten bytes', hex('2080808080808080808000'), false],
  ['a Boolean of more than 64 bits', hex('20ffffffffffffffffffff'), undefined],
  ['the last of two', Buffer.concat([hex('1a0161'), TRUE]), true],
  ['an empty struct', hex('2a00'), {}],
  ['a member without a key', part(5, part(1, part(2, TRUE))), { '': true }],
  ['a member without a value', part(5, part(1, part(1, Buffer.from('n')))), { n: null }],
  ['a key that is not UTF-8', part(5, part(1, hex('0a01ff'))), undefined],
  [
    'two structs',
    Buffer.concat([part(5, member('a', TRUE)), part(5, member('b', FALSE))]),
    { a: true, b: false },
  ],
  [
    'a struct behind something else',
    Buffer.concat([part(5, member('a', TRUE)), TRUE, part(5, member('b', FALSE))]),
    { b: false },
  ],
  ['a list', Buffer.concat([part(6, part(1, hex(''))), part(6, part(1, TRUE))]), [null, true]],
  ['an unknown field', hex('7d01020304'), null],
  ['a cut unknown field', hex('7d01'), undefined],
  ['an unknown field before a value', hex('7961616161616161612001'), true],
  ['a known field of another form', hex('220161'), null],
  ['an unknown group', hex('0b0c2001'), true],
  ['a group that does not end', hex('0b2001'), undefined],
  ['the end of a group', hex('0c'), undefined],
  ['field 0', hex('0001'), undefined],
  ['a tag of more than 32 bits', hex('808080801001'), undefined],
  ['wire type 7', hex('0701'), undefined],
];

describe('a google.protobuf.Value', () => {
  for (const [name, bytes, value] of MESSAGES) {
    it(`is read as Envoy reads it: ${name}`, () => {
      assert.deepEqual(plain(readValue(bytes)?.value), value);
    });
  }

  it('nests as deep as Envoy lets it', () => {
    assert.notEqual(readValue(lists(50)), undefined);
    assert.equal(readValue(lists(51)), undefined);
    assert.notEqual(readValue(structs(33)), undefined);
    assert.equal(readValue(structs(34)), undefined);
  });

  it('has members of any name', () => {
    const message = part(5, Buffer.concat([member('__proto__', TRUE), member('toString', FALSE)]));
    const { value } = readValue(message) ?? {};
    assert.deepEqual(Object.entries(value as object), [
      ['__proto__', true],
      ['toString', false],
    ]);
  });

  it('is what was written, whatever it is', () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constant(null),
        fc.boolean(),
        fc.double({ noNaN: true }),
        fc.string({ unit: 'grapheme' }),
        fc.array(tie('value'), { maxLength: 4 }),
        fc
          .array(fc.tuple(fc.string(), tie('value')), { maxLength: 4 })
          .map((entries) => dictionary(entries)),
      ),
    }));
    fc.assert(
      fc.property(value, (each) => {
        assert.deepEqual(readValue(written(each))?.value, each);
      }),
    );
  });

  it('is refused or read, and nothing else, from any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        readValue(Buffer.from(bytes));
      }),
      { numRuns: 2_000 },
    );
  });
});

/** With plain objects in the place of dictionaries. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'object' && value !== null ? { ...value } : value;
}

function written(value: unknown): Buffer {
  if (value === null) return Buffer.from([0x08, 0]);
  if (typeof value === 'boolean') return value ? TRUE : FALSE;
  if (typeof value === 'string') return part(3, Buffer.from(value));
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9, 0x11);
    bytes.writeDoubleLE(value, 1);
    return bytes;
  }
  if (Array.isArray(value)) {
    return part(6, Buffer.concat(value.map((item: unknown) => part(1, written(item)))));
  }
  const members = Object.entries(value as object);
  return part(5, Buffer.concat(members.map(([key, each]) => member(key, written(each)))));
}
