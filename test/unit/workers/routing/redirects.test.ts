import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { PathMatch, RedirectAction } from '../../../../shared/resources/routes/route.ts';
import { buildRouteTable } from '../../../../workers/routing/route-table.ts';
import {
  addition,
  direct,
  prefix,
  redirect,
  regex,
  route,
  routeConfiguration,
  virtualHost,
} from '../../../support/parts/routes.ts';
import { headerMap, requestHeaders, streamInfo } from '../../../support/parts/stream.ts';

function location(
  action: Partial<RedirectAction>,
  path: string,
  options: { match?: PathMatch; authority?: string; caseSensitive?: boolean; proto?: string } = {},
): string | undefined {
  const { match = prefix('/'), authority = 'h', caseSensitive = true, proto = 'http' } = options;
  const table = buildRouteTable(
    routeConfiguration([
      virtualHost([route(match, redirect(action), { match: { caseSensitive } })]),
    ]),
  );
  const headers = requestHeaders(path, [
    [':authority', authority],
    [':scheme', proto],
    ['x-forwarded-proto', proto],
  ]);
  const info = streamInfo(headers);
  const found = table.match(headers, info);
  return found?.kind === 'redirect' ? found.location(headers, info) : undefined;
}

// Recorded from Envoy 1.40.0.
describe('redirects', () => {
  it('change scheme, host and port', () => {
    const table: readonly (readonly [Partial<RedirectAction>, string])[] = [
      [{ path: { kind: 'format', format: '/r%REQ(:PATH)%' } }, 'http://h/r/a?b=c'],
      [{ path: { kind: 'format', format: 'new' } }, 'http://h/new?b=c'],
      [{ path: { kind: 'format', format: '%REQ(x-none)%' } }, 'http://h/a?b=c'],
      [{ path: { kind: 'format', format: '/n' }, stripQuery: true }, 'http://h/n'],
      [{ httpsRedirect: true }, 'https://h/a?b=c'],
      [{ schemeRedirect: 'HTTPS' }, 'HTTPS://h/a?b=c'],
      [{ hostRedirect: 'n.test' }, 'http://n.test/a?b=c'],
      [{ portRedirect: 8443 }, 'http://h:8443/a?b=c'],
      [{ hostRedirect: 'n.test:99', httpsRedirect: true }, 'https://n.test:99/a?b=c'],
      [{ httpsRedirect: true, portRedirect: 443 }, 'https://h:443/a?b=c'],
      [{ stripQuery: true, status: 303 }, 'http://h/a'],
    ];
    for (const [action, expected] of table) assert.equal(location(action, '/a?b=c'), expected);
  });

  it('drop a port that no longer fits', () => {
    const table: readonly (readonly [Partial<RedirectAction>, string, string])[] = [
      [{ httpsRedirect: true }, 'h:80', 'https://h/'],
      [{ httpsRedirect: true }, 'h:8080', 'https://h:8080/'],
      [{ httpsRedirect: true }, '[::1]:80', 'https://[::1]/'],
      [{ httpsRedirect: true }, '[::1]', 'https://[::1]/'],
      [{ portRedirect: 8443 }, 'h:80', 'http://h:8443/'],
      [{ portRedirect: 8443 }, '[::1]:80', 'http://[::1]:8443/'],
      [{ schemeRedirect: 'http', portRedirect: 80 }, 'h:80', 'http://h:80/'],
      [{ path: { kind: 'path', value: '/' } }, 'h:80', 'http://h:80/'],
    ];
    for (const [action, authority, expected] of table) {
      assert.equal(location(action, '/', { authority }), expected, authority);
    }
    assert.equal(
      location({ httpsRedirect: true }, '/', { authority: 'h:443', proto: 'https' }),
      'https://h:443/',
    );
  });

  it('replace the path, keeping the query unless the redirect has its own', () => {
    const path = (value: string) => ({ path: { kind: 'path', value } }) as const;
    assert.equal(location(path('/new'), '/a?b=c'), 'http://h/new?b=c');
    assert.equal(location(path('/new?z=1'), '/a?b=c'), 'http://h/new?z=1');
    assert.equal(location({ ...path('/new'), stripQuery: true }, '/a?b=c'), 'http://h/new');
    assert.equal(location({ ...path('/new?z=1'), stripQuery: true }, '/a?b'), 'http://h/new?z=1');
    assert.equal(location(path('/new#frag'), '/a?q'), 'http://h/new#frag?q');
    assert.equal(location(path('rel'), '/a?q=1'), 'http://h/rel?q=1');
  });

  it('rewrite the matched prefix, or the whole path where no prefix matched', () => {
    const toQ = { path: { kind: 'prefix', value: '/q' } } as const;
    assert.equal(location(toQ, '/ra/b?c', { match: prefix('/ra/') }), 'http://h/qb?c');
    assert.equal(location(toQ, '/rb?c', { match: { kind: 'path', value: '/rb' } }), 'http://h/q?c');
    const byRegex = { kind: 'regex', regex: regex('/rc/.*') } as const;
    assert.equal(location(toQ, '/rc/d', { match: byRegex }), 'http://h/q');
    const separated = { kind: 'path_separated_prefix', value: '/ri' } as const;
    assert.equal(location(toQ, '/ri/z', { match: separated }), 'http://h/q/z');
    const insensitive = { match: prefix('/rJ'), caseSensitive: false };
    assert.equal(location(toQ, '/rj/z', insensitive), 'http://h/q/z');
  });

  it('rewrite by regular expression, every match, without the query', () => {
    const path = { kind: 'regex', regex: regex('^/rd/(.*)$'), substitution: '/z/\\1-\\0' } as const;
    assert.equal(location({ path }, '/rd/e/f?g'), 'http://h/z/e/f-/rd/e/f?g');
    const each = { kind: 'regex', regex: regex('l'), substitution: 'LL' } as const;
    assert.equal(location({ path: each, stripQuery: true }, '/rl/ll?l'), 'http://h/rLL/LLLL');
  });

  it('send plain requests to TLS where a virtual host requires it', () => {
    const answer = (requireTls: 'ALL' | 'EXTERNAL_ONLY', proto: string, internal: boolean) => {
      const table = buildRouteTable(
        routeConfiguration([virtualHost([route(prefix('/'), direct())], { requireTls })]),
      );
      const headers = requestHeaders('/p?q', [
        [':authority', 'e:8080'],
        ['x-forwarded-proto', proto],
      ]);
      const info = streamInfo(headers);
      info.isInternalRequest = internal;
      const found = table.match(headers, info);
      return found?.kind === 'redirect' ? found.location(headers, info) : found?.kind;
    };
    assert.equal(answer('ALL', 'http', true), 'https://e:8080/p?q');
    assert.equal(answer('ALL', 'https', false), 'direct_response');
    assert.equal(answer('EXTERNAL_ONLY', 'http', false), 'https://e:8080/p?q');
    assert.equal(answer('EXTERNAL_ONLY', 'http', true), 'direct_response');
    assert.equal(answer('ALL', 'HTTPS', false), 'https://e:8080/p?q');
  });
});

describe('direct responses', () => {
  function answer(action: Parameters<typeof direct>[0]) {
    const table = buildRouteTable(
      routeConfiguration([
        virtualHost([
          route(prefix('/'), direct(action), {
            responseHeaders: { add: [addition('x-path', '%REQ(:PATH)%')], remove: [] },
          }),
        ]),
      ]),
    );
    const headers = requestHeaders('/x?y');
    const info = streamInfo(headers);
    const found = table.match(headers, info);
    assert.ok(found?.kind === 'direct_response');
    const response = headerMap([[':status', String(found.status)]]);
    found.finalizeResponseHeaders(response, info);
    assert.equal(response.get('x-path'), '/x?y');
    return { location: found.location(headers, info), body: found.body(headers, info) };
  }

  it('name the request’s own address when the status is 201 or redirects', () => {
    assert.equal(answer({ status: 201 }).location, 'http://h/x?y');
    assert.equal(answer({ status: 302 }).location, 'http://h/x?y');
    assert.equal(answer({ status: 200 }).location, undefined);
  });

  it('have a fixed body, a formatted one or none', () => {
    const body = new TextEncoder().encode('hello');
    assert.equal(answer({ body }).body, body);
    const bodyFormat = { format: 'at %REQ(:PATH)%', contentType: 'text/html' };
    assert.equal(answer({ bodyFormat }).body, 'at /x?y');
    assert.equal(answer({}).body, undefined);
  });
});
