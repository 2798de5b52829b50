/** Changes of query parameters: what becomes of a path. Taken from Envoy but where it says otherwise. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type {
  QueryAppendAction,
  QueryMutationRule,
} from '../../../../shared/resources/filters/http/header-mutation.ts';
import { compileQueryMutations } from '../../../../workers/filters/common/query-mutations.ts';
import { requestHeaders, streamInfo } from '../../../support/parts/stream.ts';

const remove = (key: string): QueryMutationRule => ({ kind: 'remove', key });
const put = (action: QueryAppendAction, key: string, format: string): QueryMutationRule => ({
  kind: 'append',
  action,
  key,
  format,
});

const CASES: readonly [
  what: string,
  path: string,
  rules: readonly QueryMutationRule[],
  after: string,
][] = [
  ['one is added', '/p', [put('append', 'a', '1')], '/p?a=1'],
  ['one is added to others of its name', '/p?b=1&a=0', [put('append', 'a', '1')], '/p?a=0&a=1&b=1'],
  ['what is there stays', '/p?a=0', [put('add_if_absent', 'a', '1')], '/p?a=0'],
  ['what is missing comes', '/p?b=0', [put('add_if_absent', 'a', '1')], '/p?a=1&b=0'],
  ['all of a name are replaced', '/p?a=0&a=2', [put('overwrite', 'a', '1')], '/p?a=1'],
  ['the missing one is set', '/p', [put('overwrite', 'a', '1')], '/p?a=1'],
  ['what is missing stays away', '/p', [put('overwrite_if_exists', 'a', '1')], '/p'],
  ['what is there is replaced', '/p?a', [put('overwrite_if_exists', 'a', '1')], '/p?a=1'],
  ['the last one goes with its mark', '/p?a=1', [remove('a')], '/p'],
  ['an empty query goes', '/p?', [remove('a')], '/p'],
  ['a name may be written otherwise', '/p?%61=2&b', [remove('a')], '/p?b='],
  ['order is that of bytes', '/p?B=1&a=1&A=2&_=1', [remove('x')], '/p?A=2&B=1&_=1&a=1'],
  ['nothing between marks is a pair', '/p?z&b=&=v&&c=1', [remove('x')], '/p?=v&=&b=&c=1&z='],
  [
    'values are written safely',
    '/p',
    [put('append', 'a', "two words&=!*'()/~-_.#\r\n")],
    '/p?a=two%20words%26%3D%21*%27%28%29%2F%7E-_.%23%0D%0A',
  ],
  ['names are, too', '/p', [put('append', 'a b', '1')], '/p?a%20b=1'],
  ['values may speak of the request', '/p', [put('append', 'a', '%REQ(:path)%')], '/p?a=%2Fp'],
  ['what is not known is empty', '/p', [put('append', 'a', '%REQ(x-none)%')], '/p?a='],
  // Envoy decodes them: these would end the request line.
  ['others stay as they are', '/p?b=%20x%0d%0aa:+%26', [remove('a')], '/p?b=%20x%0d%0aa:+%26'],
];

for (const [what, path, rules, after] of CASES) {
  it(what, () => {
    const headers = requestHeaders();
    headers.path = path;
    const info = streamInfo();
    info.requestHeaders = headers;
    compileQueryMutations(rules)?.(headers, info);
    assert.equal(headers.path, after);
  });
}
