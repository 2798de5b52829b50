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
      ],
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
  ['{"id":"a","id":"b"}', '{"id":"b"}'],
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

it('a damaged message is printed as far as it can be read', () => {
  assert.equal(new MessagePrinter(types, print).print(ITEM, Buffer.from([0xff, 0xff])), '{}');
});

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
