/** What of a request is matched: a header in place of the host, paths without their parameters. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildRouteTable } from '../../../../workers/routing/route-table.ts';
import { prefix, regex, routeConfiguration, virtualHost } from '../../../support/parts/routes.ts';
import { requestHeaders, streamInfo } from '../../../support/parts/stream.ts';
import { named } from './chosen-route.ts';

// Both tables are recorded from Envoy 1.40.0.
describe('vhost_header', () => {
  const hosts = [
    virtualHost([named('a', prefix('/'))], { domains: ['a.test'] }),
    virtualHost([named('b', prefix('/'))], { domains: ['b.test', '*.b.test'] }),
    virtualHost([named('rest', prefix('/'))]),
  ];
  const table = buildRouteTable(routeConfiguration(hosts, { virtualHostHeader: 'x-vh' }));

  it('names the virtual host in place of the authority', () => {
    const expected: readonly (readonly [string, string])[] = [
      ['b.test', 'b'],
      ['x.b.test', 'b'],
      ['B.TEST', 'b'],
      ['a.test:80', 'rest'],
      ['', 'rest'],
    ];
    for (const [value, name] of expected) {
      const headers = requestHeaders('/', [['x-vh', value]]);
      headers.authority = 'a.test';
      assert.equal(table.match(headers, streamInfo(headers))?.routeName, name, value);
    }
  });

  it('leaves a request without it no virtual host', () => {
    const headers = requestHeaders('/');
    headers.authority = 'a.test';
    assert.equal(table.match(headers, streamInfo(headers)), undefined);
    assert.equal(table.hasHost(headers), false);
  });
});

describe('ignore_path_parameters_in_path_matching', () => {
  it('matches segments without what stands behind a semicolon', () => {
    const routes = [
      named('path', { kind: 'path', value: '/p/q' }),
      named('prefix', prefix('/x/y')),
      named('regex', { kind: 'regex', regex: regex('/r/[a-z]+') }),
      named('separated', { kind: 'path_separated_prefix', value: '/s/t' }),
      named('none', prefix('/')),
    ];
    const hosts = [virtualHost(routes)];
    const table = buildRouteTable(routeConfiguration(hosts, { ignorePathParameters: true }));
    const expected: Readonly<Record<string, string>> = {
      '/p/q;a=1': 'path',
      '/p;z/q': 'path',
      '/p/q;a?b': 'path',
      '/p/q?b;a': 'path',
      '/x;m/y': 'prefix',
      '/r/abc;d=1': 'regex',
      '/r/abc;d/x': 'none',
      '/s/t;a/b': 'separated',
    };
    for (const [path, name] of Object.entries(expected)) {
      const headers = requestHeaders(path);
      assert.equal(table.match(headers, streamInfo(headers))?.routeName, name, path);
    }
  });
});
