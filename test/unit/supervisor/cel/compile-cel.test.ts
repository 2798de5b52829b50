/** Which expressions are refused, and that a hostile one costs little. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';

import { packCel, unpackCel } from '../../../../shared/cel/expression.ts';
import { compileCelMessage, compileCelText } from '../../../../supervisor/cel/compile-cel.ts';
import { compileCel } from '../../../../workers/cel/compile-cel.ts';
import { attackParameters } from '../../../support/attack.ts';
import { streamInfo } from '../../../support/parts/stream.ts';

/** What generated expressions are made of. */
const TOKENS =
  'request . headers [ ] "a" ( ) 1 2.5 3u - ! && || ? : { } , in has size b"x" null == < + / % ' +
  'duration("1s") timestamp(0) getHours int type metadata xds \' \\';

function errorOf(text: string): string {
  const result = compileCelText(text);
  return result.ok ? '' : result.error;
}

describe('compiling expressions', () => {
  it('refuses what Envoy refuses', () => {
    for (const [text, error] of [
      [
        '1 +',
        /Not able to parse filter expression: INVALID_ARGUMENT: ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>'/,
      ],
      ['', /mismatched input '<EOF>'/],
      ['request.?path', /unsupported syntax '\.\?'/],
      ['foo(1)', /No overload found in reference resolve step for foo/],
      ['string(1)', /No overload found in reference resolve step for string/],
      ['size(1, 2, 3)', /No overload found in reference resolve step for size/],
      ['[1,2].all(x, x>0)', /Comprehension support is disabled/],
      ['[1,2].map(x, x)', /Comprehension support is disabled/],
      ['"a".matches("(")', /invalid regular expression: missing \): \(/],
      ['"a".matches(request.path)', /has to be a string constant/],
      ['"abc', /token recognition error/],
      ['"\\q"', /invalid escape/],
      ['9223372036854775808', /invalid int literal/],
      ['has(request)', /invalid argument to has\(\) macro/],
    ] as const) {
      assert.match(errorOf(text), error, text);
    }
  });

  it('takes what a configuration has switched on', () => {
    const features = { stringConversion: true, stringConcat: true, stringFunctions: true };
    for (const [text, expected] of [
      ['string(1) + "x"', '1x'],
      ['"aXbXc".replace("X", "-", 1)', 'a-bXc'],
      ['"aXbXc".split("X")[2]', 'c'],
      ['"Ab".lowerAscii() + "Ab".upperAscii()', 'abAB'],
    ] as const) {
      const result = compileCelText(text, features);
      assert.ok(result.ok);
      assert.equal(compileCel(result.expression)(streamInfo()), expected, text);
    }
  });

  it('bounds what is deep or long', () => {
    const deep = `${'('.repeat(10_000)}1${')'.repeat(10_000)}`;
    assert.match(errorOf(deep), /recursion limit/);
    assert.match(errorOf(`${'!'.repeat(10_000)}true`), /recursion limit/);
    assert.match(errorOf(`1${'+1'.repeat(10_000)}`), /too deep/);
    assert.match(errorOf(`a${'.a'.repeat(10_000)}`), /too deep/);
    assert.match(errorOf(`"${'a'.repeat(100_001)}"`), /too long/);
    assert.equal(errorOf(`true${' || true'.repeat(10_000)}`), '');
    let message = {};
    for (let depth = 0; depth < 1000; depth += 1) {
      message = { select_expr: { operand: message, field: 'a' } };
    }
    assert.equal(compileCelMessage(message).ok, false);
  });

  it('throws for no text, neither here nor where it runs', () => {
    const token = fc.constantFrom(...TOKENS.split(' '));
    const text = fc.oneof(
      fc.string(),
      fc.array(token, { maxLength: 20 }).map((all) => all.join(' ')),
    );
    const property = fc.property(text, (source) => {
      const result = compileCelText(source);
      if (!result.ok) return;
      const packed = unpackCel(packCel(result.expression));
      assert.deepEqual(packed, result.expression);
      compileCel(result.expression)(streamInfo());
    });
    fc.assert(property, attackParameters(3000, 300_000));
  });
});
