import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  HeaderMatcher,
  QueryParameterMatcher,
  StringMatcher,
} from '../../../../shared/resources/routes/matchers.ts';
import { prefix, regex } from '../../../support/parts/routes.ts';
import { chosen, named, text } from './chosen-route.ts';

describe('query parameter matchers', () => {
  function checkQuery(matcher: QueryParameterMatcher, table: Readonly<Record<string, boolean>>) {
    for (const [query, expected] of Object.entries(table)) {
      const routes = [named('r', prefix('/'), { queryParameters: [matcher] })];
      assert.equal(chosen(routes, `/q${query}`), expected ? 'r' : undefined, query);
    }
  }

  it('look at the first value, undecoded', () => {
    checkQuery(
      { name: 'a', matcher: text('exact', 'b') },
      {
        '?a=b': true,
        '?a=b&a=c': true,
        '?a=c&a=b': false,
        '?x=1&a=b': true,
        '?a=%62': false,
        '?A=b': false,
        '': false,
        '?a=b;c': false,
        '?&a=b': true,
        '?a=b&': true,
        '?a=b?c': false,
        '?xa=b': false,
      },
    );
  });

  it('ask for presence or absence', () => {
    checkQuery({ name: 'a' }, { '?a': true, '?a=': true, '?b&a=x': true, '?b': false, '': false });
    checkQuery({ name: 'a', present: false }, { '?a': false, '?b': true });
  });
});

describe('header matchers', () => {
  const value = (matcher: StringMatcher, changes: Partial<HeaderMatcher> = {}): HeaderMatcher => ({
    name: 'x-a',
    invert: false,
    treatMissingAsEmpty: false,
    match: { kind: 'string', matcher },
    ...changes,
  });

  function checkHeader(
    matcher: HeaderMatcher,
    table: readonly (readonly [readonly string[], boolean])[],
  ) {
    for (const [values, expected] of table) {
      const headers = values.map((one) => ['x-a', one] as const);
      const found = chosen([named('r', prefix('/'), { headers: [matcher] })], '/', headers);
      assert.equal(found, expected ? 'r' : undefined, values.join('|'));
    }
  }

  it('match when one of several values does', () => {
    checkHeader(value(text('exact', 'a')), [
      [['a'], true],
      [['a', 'b'], true],
      [['b', 'a'], true],
      [['a,b'], false],
      [[], false],
    ]);
    checkHeader(value(text('contains', 'a,b')), [
      [['a', 'b'], false],
      [['a,b'], true],
    ]);
    checkHeader(value({ kind: 'regex', regex: regex('a.*') }), [
      [['abc'], true],
      [['babc'], false],
    ]);
    checkHeader(value(text('prefix', 'ab', true)), [[['ABz'], true]]);
  });

  it('never match a missing header when inverted, unless it counts as empty', () => {
    checkHeader(value(text('exact', 'v'), { invert: true }), [
      [[], false],
      [['v'], false],
      [['w'], true],
      [['w', 'v'], false],
    ]);
    checkHeader(value(text('exact', 'v'), { invert: true, treatMissingAsEmpty: true }), [
      [[], true],
      [['v'], false],
    ]);
    checkHeader(value(text('exact', ''), { treatMissingAsEmpty: true }), [
      [[], true],
      [[''], true],
      [['1'], false],
    ]);
  });

  it('ask for presence or absence, inverted or not', () => {
    const presence = (present: boolean, invert: boolean): HeaderMatcher =>
      value(text('exact', ''), { invert, match: { kind: 'present', present } });
    checkHeader(presence(true, false), [
      [[], false],
      [[''], true],
    ]);
    checkHeader(presence(false, false), [
      [[], true],
      [['1'], false],
    ]);
    checkHeader(presence(true, true), [
      [[], true],
      [['1'], false],
    ]);
    checkHeader(presence(false, true), [
      [[], false],
      [['1'], true],
    ]);
  });

  it('take whole numbers within a half-open range', () => {
    const range = value(text('exact', ''), { match: { kind: 'range', start: -5, end: 5 } });
    const accepted = ['-5', '4', '0', '+3', '-0'];
    const refused = ['5', '1.5', 'abc', '', '0x1', '007', '3 '];
    checkHeader(range, [
      ...accepted.map((one) => [[one], true] as const),
      ...refused.map((one) => [[one], false] as const),
    ]);
  });

  it('see the pseudo headers', () => {
    const byMethod = value(text('exact', 'POST'), { name: ':method' });
    const byHost = value(text('exact', 'h'), { name: 'host' });
    assert.equal(chosen([named('r', prefix('/'), { headers: [byMethod] })], '/'), undefined);
    assert.equal(chosen([named('r', prefix('/'), { headers: [byHost] })], '/'), 'r');
  });
});
