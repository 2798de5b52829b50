import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonFormatValue } from '../../../../shared/resources/access-log.ts';
import type { StreamInfo } from '../../../../workers/stream/stream-info.ts';
import { compileJsonFormat } from '../../../../workers/substitution/compile-format.ts';
import { ENVIRONMENT, KEEP, OMIT, proxied } from './proxied-stream.ts';

function json(format: JsonFormatValue, info: StreamInfo, options = KEEP): string {
  return compileJsonFormat(format, options, ENVIRONMENT)(info);
}

describe('JSON formats', () => {
  it('keep the type of a lone command and sort members by name', () => {
    const line = json(
      {
        zzz: 'first',
        code: '%RESPONSE_CODE%',
        mixed: 'c=%RESPONSE_CODE%',
        missing: '%REQ(none)%',
        mixedMissing: '%REQ(none)%x',
        two: '%BYTES_SENT%%RESPONSE_CODE%',
        num: 5,
        nul: null,
        boo: true,
        nest: { z: '%BYTES_SENT%', a: ['%RESPONSE_CODE%', 'x%RESPONSE_CODE%', {}, []] },
        'quo"te\\\xc3\xa9': 'k',
      },
      proxied(),
    );
    assert.equal(
      line,
      '{"boo":true,"code":200,"missing":null,"mixed":"c=200","mixedMissing":"-x",' +
        '"nest":{"a":[200,"x200",{},[]],"z":205},"nul":null,"num":5,"quo\\"te\\\\\xc3\xa9":"k",' +
        '"two":"205200","zzz":"first"}\n',
    );
  });

  it('escape what JSON must and bytes that are not UTF-8', () => {
    const line = json({ q: '%REQ(x-quoted)%', b: '%REQ(x-bytes)%', u: '%REQ(x-utf8)%' }, proxied());
    assert.equal(line, '{"b":"\\u00c3\\u00a9\\u00ff<","q":"a\\"b\\\\c\\td","u":"\xc3\xa9"}\n');
  });

  it('leave out members without a value when asked to, at every depth', () => {
    const line = json(
      {
        a: '%REQ(none)%',
        b: 'x%REQ(none)%y',
        c: { d: '%REQ(none)%' },
        e: ['%REQ(none)%'],
        f: '',
        g: '%REQ(x-empty)%',
        h: '%REQ(none)%%REQ(none)%',
        i: null,
      },
      proxied(),
      OMIT,
    );
    assert.equal(line, '{"b":"xy","e":[],"f":"","g":"","h":""}\n');
  });
});
