/** What `/explain` says of routes is what requests get. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Route } from '../../../../shared/resources/routes/route.ts';
import { finish } from '../../../../workers/loop/sliced-work.ts';
import { buildRouteTable } from '../../../../workers/routing/route-table.ts';
import type { HeaderMap } from '../../../../workers/stream/header-map.ts';
import {
  direct,
  regex,
  route,
  routeConfiguration,
  virtualHost,
} from '../../../support/parts/routes.ts';
import { requestHeaders, streamInfo } from '../../../support/parts/stream.ts';

const SEGMENTS = ['', '/', '/a', '/a/', '/a/b', '/b', '/ab', '/a/b/c'];
const VALUES = ['', '1', 'one', 'One'];
const HOSTS = ['a.test', 'b.a.test', 'x', 'a.test:80'];

const text = fc.oneof(
  fc.record({
    kind: fc.constantFrom('exact' as const, 'prefix' as const, 'suffix' as const),
    value: fc.constantFrom(...VALUES),
    ignoreCase: fc.constant(false),
  }),
  fc.constantFrom('.*', '[0-9]+', 'o.e').map((each) => ({
    kind: 'regex' as const,
    regex: regex(each),
  })),
);
const path = fc.oneof(
  fc.record({
    kind: fc.constantFrom('prefix' as const, 'path' as const, 'path_separated_prefix' as const),
    value: fc.constantFrom(...SEGMENTS),
  }),
  fc.constantFrom('/a.*', '/[ab]', '.*').map((each) => ({
    kind: 'regex' as const,
    regex: regex(each),
  })),
);
const match = fc.record({
  caseSensitive: fc.boolean(),
  headers: fc.array(
    fc.record({
      name: fc.constantFrom('x-a', 'x-b', ':method', 'constructor'),
      invert: fc.boolean(),
      treatMissingAsEmpty: fc.boolean(),
      match: text.map((matcher) => ({ kind: 'string' as const, matcher })),
    }),
    { maxLength: 2 },
  ),
  queryParameters: fc.array(fc.record({ name: fc.constantFrom('q', 'toString'), matcher: text }), {
    maxLength: 1,
  }),
  grpcOnly: fc.boolean(),
});
/** Long lists are indexed, short ones are not. */
const routes = fc
  .array(fc.tuple(path, match), { maxLength: 30 })
  .map((all): readonly Route[] =>
    all.map(([each, conditions], at) =>
      route(each, direct(), { name: `r${at}`, match: { ...conditions, path: each } }),
    ),
  );
const request = fc
  .tuple(
    fc.constantFrom(...SEGMENTS.slice(1), '/A', '/a?q=1', '/b?q=one&toString'),
    fc.constantFrom(...HOSTS),
    fc.array(fc.tuple(fc.constantFrom('x-a', 'x-b', 'content-type'), fc.constantFrom(...VALUES))),
  )
  .map(([target, authority, headers]): HeaderMap => {
    const map = requestHeaders(target, headers);
    map.authority = authority;
    return map;
  });

describe('the explanation of a route', () => {
  it('ends at the route that the request gets, with a reason for each one before', () => {
    fc.assert(
      fc.property(routes, routes, request, (ofDomain, ofAll, headers) => {
        const table = buildRouteTable(
          routeConfiguration([
            virtualHost(ofDomain, { name: 'one', domains: ['a.test', '*.a.test'] }),
            virtualHost(ofAll, { name: 'all', domains: ['*'] }),
          ]),
        );
        const info = streamInfo(headers);
        const chosen = table.match(headers, info);
        const explained = finish(table.explain(headers, info));
        assert.equal(explained.route, chosen);
        assert.equal(explained.omitted, 0);
        const last = explained.tried.at(-1);
        if (chosen !== undefined) assert.equal(last?.name, chosen.routeName);
        for (const [at, each] of explained.tried.entries()) {
          assert.equal(each.position, at);
          assert.equal(each.failed === undefined, each === last && chosen !== undefined, each.name);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('names the first condition that does not hold, and both sides of it', () => {
    const headers = requestHeaders('/a?q=2', [['x-a', 'no']]);
    const wants = (name: string, value: string): object => ({
      name,
      invert: false,
      treatMissingAsEmpty: false,
      match: { kind: 'string', matcher: { kind: 'exact', value, ignoreCase: false } },
    });
    const list = [
      route({ kind: 'prefix', value: '/b' }, direct(), { name: 'path' }),
      route({ kind: 'prefix', value: '/' }, direct(), {
        name: 'header',
        match: { headers: [wants('x-a', 'no'), wants('x-b', 'yes')] as never },
      }),
      route({ kind: 'prefix', value: '/' }, direct(), {
        name: 'query',
        match: {
          queryParameters: [
            { name: 'q', matcher: { kind: 'exact', value: '1', ignoreCase: false } },
          ],
        },
      }),
    ];
    const table = buildRouteTable(routeConfiguration([virtualHost(list)]));
    const { tried } = finish(table.explain(headers, streamInfo(headers)));
    assert.deepEqual(
      tried.map(({ failed }) => failed),
      [
        { condition: 'path', wants: 'prefix "/b"', actual: '"/a"' },
        { condition: 'header x-b', wants: 'exact "yes"', actual: 'not there' },
        { condition: 'query parameter q', wants: 'exact "1"', actual: '"2"' },
      ],
    );
  });

  it('lists two hundred routes and the one that fits, and counts the others', () => {
    const list = Array.from({ length: 1000 }, (_, at) =>
      route({ kind: 'path', value: `/${at}` }, direct(), { name: `r${at}` }),
    );
    const table = buildRouteTable(routeConfiguration([virtualHost(list)]));
    const headers = requestHeaders('/700', []);
    const { tried, omitted, route: found } = finish(table.explain(headers, streamInfo(headers)));
    assert.equal(tried.length, 201);
    assert.equal(omitted, 500);
    assert.equal(tried.at(-1)?.name, 'r700');
    assert.equal(found?.routeName, 'r700');
  });
});
