import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { PathMatch } from '../../../../shared/resources/routes/route.ts';
import type { RuntimeSnapshot } from '../../../../shared/resources/runtime.ts';
import { buildRouteTable } from '../../../../workers/routing/route-table.ts';
import { prefix, regex, routeConfiguration, virtualHost } from '../../../support/parts/routes.ts';
import { requestHeaders, streamInfo } from '../../../support/parts/stream.ts';
import { FilterState } from '../../../../workers/net/filter-state.ts';
import { chosen, named, text } from './chosen-route.ts';

function runtimeWith(percent: number | undefined): RuntimeSnapshot {
  return new Map(
    percent === undefined ? [] : [['share', { text: String(percent), number: percent }]],
  );
}

function checkPaths(
  path: PathMatch,
  table: Readonly<Record<string, boolean>>,
  caseSensitive = true,
) {
  for (const [text, expected] of Object.entries(table)) {
    const found = chosen([named('r', path, { caseSensitive })], text);
    assert.equal(found, expected ? 'r' : undefined, text);
  }
}

// Recorded from Envoy 1.40.0.
describe('path specifiers', () => {
  it('compare without the query', () => {
    checkPaths(
      { kind: 'path', value: '/exact' },
      {
        '/exact': true,
        '/exact?x': true,
        '/exact/': false,
        '/Exact': false,
      },
    );
    checkPaths(prefix('/a?'), { '/a?': false, '/a?b': false });
  });

  it('ignore case where told to, but not in regular expressions', () => {
    checkPaths({ kind: 'path', value: '/CiPath' }, { '/cipath': true, '/CIPATH?q': true }, false);
    checkPaths(prefix('/CiPre'), { '/cipreX': true, '/cipr': false }, false);
    checkPaths(
      { kind: 'path_separated_prefix', value: '/CiSep' },
      { '/cisep/a': true, '/CISEPx': false },
      false,
    );
    checkPaths(
      { kind: 'regex', regex: regex('/RXC/[a-z]+') },
      { '/RXC/ab': true, '/rxc/ab': false },
      false,
    );
  });

  it('match regular expressions against the whole path', () => {
    checkPaths(
      { kind: 'regex', regex: regex('/rx/[a-z]+') },
      {
        '/rx/abc': true,
        '/rx/abc?d': true,
        '/rx/aB': false,
        '/rx/': false,
        '/x/rx/a': false,
      },
    );
  });

  it('match separated prefixes at segment ends only', () => {
    checkPaths(
      { kind: 'path_separated_prefix', value: '/sep' },
      {
        '/sep': true,
        '/sep/': true,
        '/sep?x': true,
        '/sep/x': true,
        '/sepx': false,
      },
    );
  });

  it('match templates segment by segment', () => {
    checkPaths(
      { kind: 'template', template: '/tpl/{a}/x/{b=*}' },
      {
        '/tpl/1/x/2': true,
        '/tpl/1/x/2?q=1': true,
        '/tpl/1/x/': false,
        '/tpl//x/2': false,
        '/tpl/1/x/2/3': false,
        "/tpl/1!$&'()*+,;:@=~%2/x/2": true,
        '/tpl/1[/x/2': false,
      },
    );
    checkPaths(
      { kind: 'template', template: '/tp2/**' },
      {
        '/tp2': false,
        '/tp2/': true,
        '/tp2/a/b': true,
      },
    );
    checkPaths(
      { kind: 'template', template: '/tp3/{a=s/*/t}/{b=**}.m3u8' },
      {
        '/tp3/s/1/t/a/b.m3u8': true,
        '/tp3/s/1/t/.m3u8': true,
        '/tp3/s/1/t/a': false,
      },
    );
  });

  it('leave CONNECT to connect matchers, and those to CONNECT', () => {
    const table = buildRouteTable(
      routeConfiguration([
        virtualHost([named('path', prefix('/')), named('connect', { kind: 'connect' })]),
      ]),
    );
    const connect = requestHeaders('', [[':method', 'CONNECT']]);
    assert.equal(table.match(connect, streamInfo(connect))?.routeName, 'connect');
    const get = requestHeaders('/x');
    assert.equal(table.match(get, streamInfo(get))?.routeName, 'path');
  });
});

describe('routes', () => {
  it('are for gRPC only when told so', () => {
    const routes = [named('r', prefix('/'), { grpcOnly: true })];
    const types: Readonly<Record<string, boolean>> = {
      'application/grpc': true,
      'application/grpc+proto': true,
      'application/grpc-web': false,
      'application/grpcx': false,
    };
    for (const [type, expected] of Object.entries(types)) {
      assert.equal(chosen(routes, '/', [['content-type', type]]), expected ? 'r' : undefined, type);
    }
  });

  it('take a share of requests, which the runtime may change', () => {
    const share = { numerator: 25, denominator: 100, runtimeKey: 'share' } as const;
    const table = (random: number, percent?: number) =>
      buildRouteTable(
        routeConfiguration([virtualHost([named('r', prefix('/'), { runtimeFraction: share })])]),
        { random: () => random, snapshot: runtimeWith(percent) },
      );
    const found = (random: number, percent?: number) => {
      const headers = requestHeaders();
      return table(random, percent).match(headers, streamInfo(headers)) !== undefined;
    };
    assert.deepEqual([found(24), found(25), found(124), found(125)], [true, false, true, false]);
    assert.deepEqual([found(24, 0), found(99, 100)], [false, true]);
  });

  it('are not looked for when x-forwarded-proto is empty', () => {
    assert.equal(chosen([named('r', prefix('/'))], '/', [['x-forwarded-proto', '']]), undefined);
  });

  it('are chosen in the order given, however many there are', () => {
    const literal = fc.stringMatching(/^\/[ab/]{0,4}$/);
    const specifier = fc.oneof(
      literal.map((value): PathMatch => ({ kind: 'prefix', value })),
      literal.map((value): PathMatch => ({ kind: 'path', value })),
      literal.map((value): PathMatch => ({ kind: 'path_separated_prefix', value })),
    );
    fc.assert(
      fc.property(fc.array(specifier, { maxLength: 40 }), literal, (paths, path) => {
        const routes = paths.map((one, index) => named(String(index), one));
        const expected = routes.find((one) => chosen([one], path) !== undefined)?.name;
        assert.equal(chosen(routes, path), expected);
      }),
      { numRuns: 60 },
    );
  });
});

// Recorded from Envoy 1.40.0, but for metadata, which no listener filter of a test can set.
describe('conditions on the stream', () => {
  const all: PathMatch = prefix('/');

  it('compare cookies; one that is missing never matches', () => {
    for (const [invert, given, expected] of [
      [false, 'a=1; b=2', 'r'],
      [false, 'b=1', undefined],
      [true, 'b=1', 'r'],
      [true, 'a=1', undefined],
    ] as const) {
      const cookies = [{ name: 'b', matcher: text('exact', '2'), invert }];
      assert.equal(chosen([named('r', all, { cookies })], '/', [['cookie', given]]), expected);
    }
  });

  it('look into metadata and filter state', () => {
    const dynamicMetadata = [
      {
        namespace: 'ns',
        path: ['a', 'b'],
        value: { kind: 'string', matcher: text('prefix', 'v') },
        invert: false,
      },
    ] as const;
    const filterState = [
      { key: 'k', match: { kind: 'string', matcher: text('exact', 'w') } },
    ] as const;
    const table = buildRouteTable(
      routeConfiguration([virtualHost([named('r', all, { dynamicMetadata, filterState })])]),
    );
    const map = requestHeaders('/', []);
    const info = streamInfo(map);
    assert.equal(table.match(map, info), undefined);
    info.dynamicMetadata = new Map([['ns', { a: { b: 'value' } }]]);
    assert.equal(table.match(map, info), undefined);
    info.filterState = new FilterState([['k', 'w']]);
    assert.equal(table.match(map, info)?.routeName, 'r');
  });

  it('know whether a client has shown a certificate', () => {
    const plain = { presented: false };
    assert.equal(chosen([named('r', all, { tls: plain })], '/'), 'r');
    assert.equal(chosen([named('r', all, { tls: { presented: true } })], '/'), undefined);
    assert.equal(chosen([named('r', all, { tls: { validated: true } })], '/'), undefined);
  });
});
