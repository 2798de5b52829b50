import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterRouteAction, PathMatch } from '../../../../shared/resources/routes/route.ts';
import { prefix, regex, weightedCluster } from '../../../support/parts/routes.ts';
import { requestHeaders, streamInfo } from '../../../support/parts/stream.ts';
import { resolve, lines } from './resolved-route.ts';

// Recorded from Envoy 1.40.0.
describe('path rewrites', () => {
  function rewritten(
    pathRewrite: ClusterRouteAction['pathRewrite'],
    match: PathMatch,
    path: string,
    caseSensitive = true,
  ): string {
    const headers = requestHeaders(path);
    const action = pathRewrite === undefined ? {} : { pathRewrite };
    resolve(action, headers, { match, caseSensitive }).finalizeRequestHeaders(
      headers,
      streamInfo(headers),
      true,
    );
    assert.equal(headers.get('x-envoy-original-path'), path);
    return headers.path;
  }

  it('replace the matched prefix and keep the rest with its query', () => {
    const table: readonly (readonly [string, PathMatch, string, string])[] = [
      ['/', prefix('/p1/'), '/p1/a/b?c', '/a/b?c'],
      ['/', prefix('/p2'), '/p2', '/'],
      ['/', prefix('/p2'), '/p2/a', '//a'],
      ['/', prefix('/p2'), '/p2a', '/a'],
      ['/new', { kind: 'path', value: '/p3' }, '/p3?x', '/new?x'],
      ['/new', { kind: 'regex', regex: regex('/p4/.*') }, '/p4/a', '/new'],
      ['/y', { kind: 'path_separated_prefix', value: '/p6' }, '/p6/a', '/y/a'],
      ['/y/', { kind: 'path_separated_prefix', value: '/p7' }, '/p7', '/y/'],
      ['/q?a=b', prefix('/pa'), '/pa/x?c=d', '/q?a=b/x?c=d'],
    ];
    for (const [value, match, path, expected] of table) {
      assert.equal(rewritten({ kind: 'prefix', value }, match, path), expected, path);
    }
    assert.equal(
      rewritten({ kind: 'prefix', value: '/x' }, prefix('/P5'), '/p5/B?c', false),
      '/x/B?c',
    );
  });

  it('replace every match of a regular expression in the path alone', () => {
    const substitution = '/<\\1>';
    const rewrite = { kind: 'regex', regex: regex('/([a-z0-9]+)'), substitution } as const;
    assert.equal(rewritten(rewrite, prefix('/'), '/p8/a/b?/c'), '/<p8>/<a>/<b>?/c');
    const nothing = { kind: 'regex', regex: regex('nomatch'), substitution: 'x' } as const;
    assert.equal(rewritten(nothing, prefix('/'), '/p9/a'), '/p9/a');
  });

  it('fill the parts of a template into another', () => {
    const match = { kind: 'template', template: '/tp/{a}/x/{b=**}' } as const;
    const rewrite = { kind: 'template', template: '/n/{b}/{a}' } as const;
    assert.equal(rewritten(rewrite, match, '/tp/1/x/2/3?q=/1'), '/n/2/3/1?q=/1');
  });

  it('format a path from the request, and keep it where that is empty', () => {
    const table: readonly (readonly [string, string | undefined, string])[] = [
      ['/new', undefined, '/new?q=1'],
      ['/x%REQ(:PATH)%', undefined, '/x/a%20b?q=1?q=1'],
      ['%REQ(x-p)%', '/val', '/val?q=1'],
      ['%REQ(x-p)%', undefined, '/a%20b?q=1'],
      ['/%REQ(:AUTHORITY)%/%DYNAMIC_METADATA(a)%', undefined, '/h/?q=1'],
    ];
    for (const [format, value, expected] of table) {
      const headers = requestHeaders('/a%20b?q=1', value === undefined ? [] : [['x-p', value]]);
      const action = { pathRewrite: { kind: 'format', format } } as const;
      resolve(action, headers).finalizeRequestHeaders(headers, streamInfo(headers), true);
      assert.equal(headers.path, expected, format);
      const isRewritten = expected !== '/a%20b?q=1';
      assert.equal(headers.has('x-envoy-original-path'), isRewritten, format);
    }
  });

  it('leave no trace where x-envoy headers are suppressed', () => {
    const headers = requestHeaders('/a', [['x-envoy-original-path', '/prev']]);
    const action = { pathRewrite: { kind: 'prefix', value: '/b' } } as const;
    resolve(action, headers).finalizeRequestHeaders(headers, streamInfo(headers), false);
    assert.equal(headers.path, '/ba');
    assert.equal(headers.get('x-envoy-original-path'), '/prev');
  });
});

describe('host rewrites', () => {
  function rewritten(
    action: Partial<ClusterRouteAction>,
    headers = requestHeaders('/h5/foo/bar?x'),
  ) {
    resolve(action, headers).finalizeRequestHeaders(headers, streamInfo(headers), true);
    return [headers.authority, ...lines(headers)];
  }

  it('take the host from the configuration, a header or the path', () => {
    const literal = { hostRewrite: { kind: 'literal', value: 'lit.test' } } as const;
    assert.deepEqual(rewritten(literal), ['lit.test', 'x-envoy-original-host: h']);
    const byHeader = { hostRewrite: { kind: 'header', name: 'x-h' } } as const;
    assert.deepEqual(rewritten(byHeader, requestHeaders('/', [['x-h', 'hh']])), [
      'hh',
      'x-h: hh',
      'x-envoy-original-host: h',
    ]);
    assert.deepEqual(rewritten(byHeader, requestHeaders('/', [['x-h', '']])), ['h', 'x-h: ']);
    assert.deepEqual(rewritten(byHeader), ['h']);
    const formatted = { hostRewrite: { kind: 'format', format: 'n.%REQ(x-h)%' } } as const;
    assert.equal(rewritten(formatted, requestHeaders('/', [['x-h', 'hh']]))[0], 'n.hh');
    assert.equal(rewritten(formatted)[0], 'n.-');
    const byPath = {
      hostRewrite: {
        kind: 'path_regex',
        regex: regex('^/h5/([^/]+)/.*$'),
        substitution: '\\1.test',
      },
    } as const;
    assert.deepEqual(rewritten(byPath), ['foo.test', 'x-envoy-original-host: h']);
    assert.equal(rewritten(byPath, requestHeaders('/h5'))[0], '/h5');
  });

  it('append the old host to x-forwarded-host where asked to, but only when there is a new one', () => {
    const literal = {
      hostRewrite: { kind: 'literal', value: 'lit.test' },
      appendXForwardedHost: true,
    } as const;
    assert.deepEqual(rewritten(literal, requestHeaders('/', [['x-forwarded-host', 'prev']])), [
      'lit.test',
      'x-forwarded-host: prev,h',
      'x-envoy-original-host: h',
    ]);
    assert.deepEqual(rewritten(literal), [
      'lit.test',
      'x-envoy-original-host: h',
      'x-forwarded-host: h',
    ]);
    assert.deepEqual(rewritten({ appendXForwardedHost: true }), ['h']);
  });
});

describe('cluster choice', () => {
  const weighted = (changes: object = {}) => ({
    cluster: {
      kind: 'weighted' as const,
      clusters: [
        weightedCluster('a', { weight: 2, hostRewriteLiteral: 'whost' }),
        weightedCluster('b', { weight: 3 }),
        weightedCluster('', { weight: 1, clusterHeader: 'x-c' }),
      ],
      totalWeight: 6,
      useHashPolicy: false,
      ...changes,
    },
  });

  it('follows the weights', () => {
    const names = [0, 1, 2, 4, 5, 6, 8].map(
      (random) => resolve(weighted(), requestHeaders('/', [['x-c', 'c']]), { random }).clusterName,
    );
    assert.deepEqual(names, ['a', 'a', 'b', 'b', 'c', 'a', 'b']);
  });

  it('follows a header that carries the random number', () => {
    const chosen = (value: string, random: number) =>
      resolve(weighted({ headerName: 'x-w' }), requestHeaders('/', [['x-w', value]]), { random })
        .clusterName;
    assert.equal(chosen('3', 0), 'b');
    assert.equal(chosen('8', 0), 'b');
    assert.equal(chosen('abc', 0), 'a');
  });

  // Recorded from Envoy 1.40.0 with weights of 30 and 70.
  it('follows the hash of the request where told to', () => {
    const policy = { kind: 'header', name: 'x-k', terminal: false } as const;
    const split = {
      cluster: {
        kind: 'weighted' as const,
        clusters: [weightedCluster('a', { weight: 30 }), weightedCluster('b', { weight: 70 })],
        totalWeight: 100,
        useHashPolicy: true,
      },
      hashPolicies: [policy],
    };
    const chosen = (value: string, random: number) =>
      resolve(split, requestHeaders('/', [['x-k', value]]), { random }).clusterName;
    const values = Array.from({ length: 12 }, (_, at) => `v${at}`);
    assert.equal(values.map((value) => chosen(value, 0)).join(''), 'ababababbabb');
    assert.equal(values.map((value) => chosen(value, 99)).join(''), 'ababababbabb');
    assert.equal(resolve(split, requestHeaders(), { random: 99 }).clusterName, 'b');
  });

  it('takes the cluster from a header; none when the header is missing', () => {
    const action = { cluster: { kind: 'cluster_header', header: 'x-c' } } as const;
    assert.equal(resolve(action, requestHeaders('/', [['x-c', 'dyn']])).clusterName, 'dyn');
    assert.equal(resolve(action, requestHeaders()).clusterName, '');
  });

  it('rewrites the host of a weighted cluster before the route’s own', () => {
    const headers = requestHeaders();
    const hostRewrite = { kind: 'literal', value: 'rhost' } as const;
    resolve({ ...weighted(), hostRewrite }, headers).finalizeRequestHeaders(
      headers,
      streamInfo(headers),
      true,
    );
    assert.deepEqual(
      [headers.authority, ...lines(headers)],
      ['rhost', 'x-envoy-original-host: whost'],
    );
  });

  it('names the virtual cluster of a request', () => {
    const found = resolve({}, requestHeaders());
    assert.equal(found.virtualClusterOf(requestHeaders('/v1')), 'vc');
    assert.equal(found.virtualClusterOf(requestHeaders('/x')), 'other');
  });
});
