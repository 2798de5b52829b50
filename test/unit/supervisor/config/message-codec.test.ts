import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import {
  type CodecOptions,
  messageFromBinary,
  messageFromJson,
  messageToBinary,
  unpackAny,
} from '../../../../supervisor/config/message-codec.ts';
import { at, formatPlace } from '../../../../supervisor/config/problem.ts';

const catalog = new ApiCatalog();
const pipe = 'envoy.config.core.v3.Pipe';

function codec(): { options: CodecOptions; found: string[] } {
  const found: string[] = [];
  const options: CodecOptions = {
    catalog,
    sink: {
      report: ({ severity, place, message }) =>
        void found.push(`${severity} ${formatPlace(place)}: ${message}`),
    },
    unknownFields: 'refuse',
    place: at(undefined, 'here'),
  };
  return { options, found };
}

describe('messageFromJson', () => {
  it('reads a JSON value', () => {
    const { options } = codec();
    assert.deepEqual(messageFromJson(options, pipe, { path: '/p', mode: '5' }), {
      path: '/p',
      mode: 5,
    });
  });

  it('reports wrong values and broken constraints under the given place', () => {
    const { options, found } = codec();
    assert.equal(messageFromJson(options, pipe, { mode: 9999, pat: 1 }), undefined);
    assert.deepEqual(found, [
      "error here.pat: no such field: 'pat' in envoy.config.core.v3.Pipe",
      'error here.mode: value must be less than or equal to 511',
    ]);
  });
});

describe('messages in binary', () => {
  it('come back as they were', () => {
    const { options } = codec();
    const bytes = messageToBinary(catalog, pipe, { path: '/p', mode: 5 });
    assert.deepEqual(messageFromBinary(options, pipe, bytes), { path: '/p', mode: 5 });
  });

  it('take the last of what a field says twice, a default too', () => {
    const { options } = codec();
    const said = (mode: number): Uint8Array =>
      Buffer.concat([Buffer.from('10', 'hex'), Buffer.from([mode])]);
    const path = messageToBinary(catalog, pipe, { path: '/p' });
    const read = (...modes: readonly number[]): unknown =>
      messageFromBinary(options, pipe, Buffer.concat([path, ...modes.map(said)]));
    assert.deepEqual(read(0), { path: '/p' });
    assert.deepEqual(read(5, 0), { path: '/p' });
    assert.deepEqual(read(0, 5), { path: '/p', mode: 5 });
  });

  it('keep the bytes of an Any of a type that the API does not have', () => {
    const { options } = codec();
    const any = { '@type': 'type.googleapis.com/nobody.Knows', value: 'AAH+/w==' };
    const bytes = messageToBinary(catalog, 'google.protobuf.Any', any);
    assert.deepEqual(messageFromBinary(options, 'google.protobuf.Any', bytes), any);
  });

  it('are checked', () => {
    const { options, found } = codec();
    assert.equal(messageFromBinary(options, pipe, new Uint8Array()), undefined);
    assert.deepEqual(found, ['error here.path: value length must be at least 1 characters']);
  });

  it('have their unknown fields refused', () => {
    const { options, found } = codec();
    const bytes = Buffer.concat([
      messageToBinary(catalog, pipe, { path: '/p' }),
      Buffer.from('a20600', 'hex'),
    ]);
    assert.equal(messageFromBinary(options, pipe, bytes), undefined);
    assert.deepEqual(found, [`error here: unknown field number 100 in ${pipe}`]);
  });
});

describe('unpackAny', () => {
  it('gives an ordinary message as it is', () => {
    const any = { '@type': `type.googleapis.com/${pipe}`, path: '/p' };
    assert.deepEqual(unpackAny(codec().options, any), { typeName: pipe, message: any });
  });

  for (const struct of ['xds.type.v3.TypedStruct', 'udpa.type.v1.TypedStruct']) {
    it(`reads the value of ${struct} as the type that it names`, () => {
      const any = {
        '@type': `type.googleapis.com/${struct}`,
        type_url: `type.googleapis.com/${pipe}`,
        value: { path: '/p', mode: '5' },
      };
      assert.deepEqual(unpackAny(codec().options, any), {
        typeName: pipe,
        message: { '@type': `type.googleapis.com/${pipe}`, path: '/p', mode: 5 },
      });
    });
  }

  it('keeps an Any of a type that the API does not have, as its bytes', () => {
    const any = { '@type': 'x/nosuch.Type', value: 'CAE=' };
    const type = 'google.protobuf.Any';
    const { options, found } = codec();
    const bytes = messageToBinary(catalog, type, any);
    assert.deepEqual(messageFromBinary(options, type, bytes), any);
    assert.deepEqual(found, []);
  });

  it('reports a TypedStruct of an unknown type', () => {
    const { options, found } = codec();
    const any = { '@type': 'x/xds.type.v3.TypedStruct', type_url: 'x/nosuch.Type' };
    assert.equal(unpackAny(options, any), undefined);
    assert.deepEqual(found, ["error here: unknown type 'x/nosuch.Type'"]);
  });
});
