/** Hints for message types that the API does not declare. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adviceForType } from '../../../../supervisor/config/type-advice.ts';

const KNOWN = [
  'envoy.extensions.filters.http.a2a.v3.Config',
  'envoy.extensions.filters.http.router.v3.Router',
  'envoy.extensions.filters.http.cors.v3.CorsPolicy',
];

const rows: readonly [type: string, advice: RegExp | undefined][] = [
  ['envoy.extensions.filters.http.golang.v3alpha.Config', /contrib/],
  ['envoy.extensions.filters.network.mysql_proxy.v3.MySQLProxy', /contrib/],
  ['envoy.extensions.filters.http.ruter.v3.Router', /router\.v3\.Router\?$/],
  ['envoy.extensions.filters.http.router.v2.Router', /router\.v3\.Router\?$|v2 API/],
  ['envoy.config.filter.http.router.v2.Router', /v2 API/],
  ['envoy.extensions.filters.http.abc.v3.Config', undefined],
  ['com.example.Thing', undefined],
];

for (const [type, advice] of rows) {
  test(`${type} ${advice === undefined ? 'gets no hint' : `gets ${String(advice)}`}`, () => {
    const hint = adviceForType(type, () => KNOWN);
    if (advice === undefined) assert.equal(hint, undefined);
    else assert.match(hint ?? '', advice);
  });
}
