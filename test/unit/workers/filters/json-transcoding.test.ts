/** JSON and messages of protobuf; texts and mistakes are those of Envoy for the same requests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  ProtoField,
  ProtoKind,
} from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';
import { parseTemplate } from '../../../../supervisor/resources/filters/http/grpc-json/path-template.ts';
import { JsonListReader } from '../../../../workers/filters/http/grpc-json/json-list-reader.ts';
import { MessagePrinter } from '../../../../workers/filters/http/grpc-json/json-of-message.ts';
import { parseJson } from '../../../../workers/filters/http/grpc-json/json-text.ts';
import { BoundValues } from '../../../../workers/filters/http/grpc-json/bound-values.ts';
import { MessageWriter } from '../../../../workers/filters/http/grpc-json/message-of-json.ts';
import { ProtoTypes } from '../../../../workers/filters/http/grpc-json/proto-types.ts';

function field(
  number: number,
  name: string,
  kind: ProtoKind,
  more: Partial<ProtoField> = {},
): ProtoField {
  return { number, name, jsonName: name, kind, isRepeated: false, hasPresence: false, ...more };
}

const types = new ProtoTypes(
  [
    {
      name: 'shop.Item',
      isMapEntry: false,
      fields: [
        field(1, 'id', 'string'),
        field(3, 'amount', 'int32'),
        field(4, 'tags', 'string', { isRepeated: true }),
        field(5, 'color', 'enum', { type: 'shop.Color' }),
        field(6, 'big', 'int64'),
        field(7, 'on', 'bool'),
        field(8, 'inner', 'message', { type: 'shop.Item', hasPresence: true }),
        field(9, 'raw', 'bytes'),
        field(10, 'price', 'double'),
        field(11, 'deep_name', 'string', { jsonName: 'deepName' }),
        field(12, 'time', 'message', { type: 'google.protobuf.Timestamp', hasPresence: true }),
        field(13, 'left', 'string', { oneof: 'side' }),
        field(14, 'right', 'string', { oneof: 'side' }),
        field(15, 'ratio', 'float'),
      ],
    },
    {
      name: 'google.protobuf.Timestamp',
      isMapEntry: false,
      fields: [field(1, 'seconds', 'int64'), field(2, 'nanos', 'int32')],
    },
  ],
  [
    {
      name: 'shop.Color',
      values: [
        ['NONE', 0],
        ['RED', 1],
      ],
    },
  ],
);
const writer = new MessageWriter(types, { isEnumCaseIgnored: false, rejectsCollisions: false });
const print = {
  addsWhitespace: false,
  printsDefaults: false,
  enumsAsNumbers: false,
  keepsFieldNames: false,
  streams: 'array',
} as const;

const item = types.message('shop.Item');
assert.ok(item !== undefined);
const ITEM = item;

function write(json: string): Buffer {
  return writer.write(ITEM, parseJson(Buffer.from(json)), new BoundValues());
}

const KEPT: readonly (readonly [json: string, printed: string])[] = [
  ['{}', '{}'],
  ['{"nosuch":1}', '{}'],
  ['{"id":"x\\"<é"}', '{"id":"x\\"\\u003cé"}'],
  ['{"deepName":"a"}', '{"deepName":"a"}'],
  ['{"deep_name":"a"}', '{"deepName":"a"}'],
  ['{"big":9007199254740993}', '{"big":"9007199254740993"}'],
  ['{"big":"-1"}', '{"big":"-1"}'],
  ['{"color":"RED"}', '{"color":"RED"}'],
  ['{"color":7}', '{"color":7}'],
  ['{"on":"true"}', '{"on":true}'],
  ['{"tags":["a",null,"b"]}', '{"tags":["a","b"]}'],
  ['{"tags":"a"}', '{"tags":["a"]}'],
  ['{"raw":"AAE="}', '{"raw":"AAE="}'],
  ['{"price":1.5}', '{"price":1.5}'],
  ['{"price":"NaN"}', '{"price":"NaN"}'],
  ['{"price":1e21}', '{"price":1e+21}'],
  ['{"price":1e-7}', '{"price":1e-07}'],
  ['{"inner":{"id":"a","inner":{}}}', '{"inner":{"id":"a","inner":{}}}'],
  ["{'id':'a',}", '{"id":"a"}'],
  ['{id:"a"}', '{"id":"a"}'],
  ['{"amount":"+1"}', '{"amount":1}'],
  ['{"amount":1.}', '{"amount":1}'],
  ['{"price":-0}', '{"price":0}'],
  ['{"ratio":1.1234567}', '{"ratio":1.12345672}'],
  ['{"time":{"seconds":1}}', '{"time":"1970-01-01T00:00:01Z"}'],
  ['{"id":null,"__proto__":{"id":"x"}}', '{}'],
];

const REFUSED: readonly (readonly [json: string, words: string])[] = [
  ['{"name":', 'Unexpected end of string. Expected a value.\n\n^'],
  ['{"name":"a"} x', 'Parsing terminated before end of input.\n{"name":"a"} x\n             ^'],
  ['[]', ': Root element must be a message.'],
  ['{"amount":"x"}', 'amount: invalid value "x" for type TYPE_INT32'],
  ['{"amount":1.5}', 'amount: invalid value 1.5 for type TYPE_INT32'],
  ['{"amount":3e9}', 'amount: invalid value 3000000000 for type TYPE_INT32'],
  ['{"color":"red"}', 'color: invalid value "red" for type type.googleapis.com/shop.Color'],
  ['{"raw":"%%%"}', 'raw: invalid value "%%%" for type TYPE_BYTES'],
  ['{"on":1}', 'on: invalid value 1 for type TYPE_BOOL'],
  ['{"id":1}', 'id: invalid value 1 for type TYPE_STRING'],
  ['{"big":"1e3"}', 'big: invalid value "1e3" for type TYPE_INT64'],
  ['{"":1}', ': Proto fields must have a name.'],
  ['{"color":"7"}', 'color: invalid value "7" for type type.googleapis.com/shop.Color'],
  ['{"amount":NaN}', 'Unexpected token.\nNaN}\n^'],
  ['{"amount":+1}', 'Expected a value.\n+1}\n^'],
  ['{"amount":01}', 'Octal/hex numbers are not valid JSON values.\n{"amount":01}\n          ^'],
  ['{"id":"\\ud83d"}', 'Missing low surrogate.\n\\ud83d"}\n^'],
  ['{"id":"\\ude00"}', 'Invalid unicode code point.\n{"id":"\\ude00"}\n       ^'],
  [
    '{"left":"a","right":"b"}',
    ": invalid value oneof field 'side' is already set. Cannot set 'right' for type oneof",
  ],
  [
    '{"inner":{"time":"2020"}}',
    "inner.time: invalid value Field 'time', Illegal timestamp format; timestamps must end with 'Z' or have a valid timezone offset. for type type.googleapis.com/google.protobuf.Timestamp",
  ],
  ['{"id":[]}', ': Proto field is not repeating, cannot start list.'],
];

describe('JSON as a message', () => {
  for (const [json, printed] of KEPT) {
    it(`keeps its values: ${json}`, () => {
      assert.equal(new MessagePrinter(types, print).print(ITEM, write(json)), printed);
    });
  }

  for (const [json, words] of REFUSED) {
    it(`is refused in Envoy's words: ${json}`, () => {
      assert.throws(() => write(json), { message: words });
    });
  }

  it('is refused when it is too deep', () => {
    assert.throws(() => write('{"inner":'.repeat(101)), /Message too deep/);
  });
});

it('what the body says is not said again by path or query, in lists beside it', () => {
  const bound = new BoundValues();
  for (const [name, value] of [
    ['id', 'path'],
    ['amount', '5'],
    ['tags', 'b'],
    ['deep_name', 'c'],
  ] as const) {
    const found = ITEM.byName.get(name);
    assert.ok(found !== undefined);
    bound.add([found], value);
  }
  const body = parseJson(Buffer.from('{"id":"body","tags":["a"]}'));
  const written = writer.write(ITEM, body, bound).toString('hex');
  const [own, list] = [`0a04${hexOf('body')}`, `2201${hexOf('a')}`];
  assert.equal(written, `${own}${list}18052201${hexOf('b')}5a01${hexOf('c')}`);
});

const DAMAGED: readonly (readonly [hex: string, printed: string])[] = [
  ['ffff', '{}'],
  ['0a0161ff', '{"id":"a"}'],
  ['0a', '{"id":""}'],
];

const WRONG: readonly (readonly [hex: string, words: string])[] = [
  ['0a0361', 'malformed length-delimited field'],
  ['18ff', 'unexpected EOF'],
  ['0a01610a0162', 'repeated entries for singular field number 1'],
  ['0a02c328', 'proto3 strings must be UTF-8'],
  ['3802', 'bad value for bool: \\x02'],
  ['080a', 'field type 9 (number 1) does not support varint fields'],
  ['0f', 'unknown wire type: 7'],
];

describe('a message that is damaged', () => {
  const printed = (hex: string): string =>
    new MessagePrinter(types, print).print(ITEM, Buffer.from(hex, 'hex'));

  for (const [hex, json] of DAMAGED) {
    it(`is printed as far as it can be read: ${hex}`, () => assert.equal(printed(hex), json));
  }

  for (const [hex, words] of WRONG) {
    it(`is refused in Envoy's words: ${hex}`, () => {
      assert.throws(() => printed(hex), { message: words });
    });
  }
});

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex');
}

it('a list is cut into its elements wherever its pieces end', () => {
  const text = Buffer.from(' [ {"id":"]}"} , {"tags":["a"]},]');
  for (let cut = 0; cut <= text.length; cut++) {
    const reader = new JsonListReader(100);
    const parts = [text.subarray(0, cut), text.subarray(cut)].flatMap((each) => reader.read(each));
    reader.end();
    assert.deepEqual(
      parts.map((part) => part?.toString().trim()),
      ['{"id":"]}"}', '{"tags":["a"]}'],
    );
  }
});

describe('path templates', () => {
  it('have segments, variables and a verb', () => {
    assert.deepEqual(parseTemplate('/v1/{name=shelves/*}/b/{rest=**}:go'), {
      segments: ['v1', 'shelves', '*', 'b', '**'],
      customVerb: 'go',
      variables: [
        { field: ['name'], start: 1, end: 3, isMultiple: true },
        { field: ['rest'], start: 4, end: -1, isMultiple: true },
      ],
    });
  });

  for (const text of ['', 'v1', '/{', '/{a=**}/**', '/{1a}', '/a*b', '/{a}{b}x{']) {
    it(`are refused: ${JSON.stringify(text)}`, () => assert.equal(parseTemplate(text), undefined));
  }
});
