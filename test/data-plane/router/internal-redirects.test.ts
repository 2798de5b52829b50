/**
 * Redirects of an upstream that are followed here: when, with what, and when they are passed on.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InternalRedirect } from '../../../shared/resources/routes/route.ts';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { prefix, route, toCluster } from '../../support/parts/routes.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';

const POLICY: InternalRedirect = {
  maxRedirects: 1,
  codes: [302, 303],
  allowCrossScheme: false,
  responseHeadersToCopy: [],
  predicates: [],
};

/** `/to/<status>/<URL>` redirects; everything else says which path and body it got. */
async function redirecting() {
  return startHttpUpstream((request, response) => {
    const [, , status = '', location = ''] = (request.url ?? '').split('/');
    if (request.url?.startsWith('/to/') === true) {
      response.writeHead(Number(status), {
        location: decodeURIComponent(location),
        'x-token': 'up',
      });
      response.end('redirect');
      return;
    }
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => response.end(`got ${request.method} ${request.url} ${body}.`));
  });
}

async function exchange(policy: Partial<InternalRedirect>, request: string) {
  await using upstream = await redirecting();
  const internalRedirect = { ...POLICY, ...policy };
  await using plane = await startDataPlane({
    upstreamPorts: [upstream.port],
    virtualHost: { domains: ['h.test', 'known.test'] },
    routes: [route(prefix('/'), toCluster({ internalRedirect }), { name: 'all' })],
  });
  const client = await openRaw(plane.port);
  client.send(request);
  const answer = await client.until(/(redirect|\.)(\r\n0\r\n\r\n)?$/);
  client.destroy();
  return { answer, requests: upstream.requests, stats: plane.stats() };
}

function get(status: number, location: string, headers = ''): string {
  return `GET /to/${status}/${encodeURIComponent(location)} HTTP/1.1\r\nhost: h.test\r\n${headers}\r\n`;
}

describe('internal redirects', () => {
  it('are followed with the target in place of the request', async () => {
    const { answer, requests, stats } = await exchange(
      {},
      get(302, 'http://known.test/new?q#part'),
    );
    assert.match(answer, /^HTTP\/1\.1 200 [^]*got GET \/new\?q \./);
    assert.equal(requests[1]?.headers.host, 'known.test');
    assert.equal(
      requests[1].headers['x-envoy-original-url'],
      'http://h.test/to/302/http%3A%2F%2Fknown.test%2Fnew%3Fq%23part',
    );
    assert.equal(stats.get('cluster.up.upstream_internal_redirect_succeeded_total'), 1);
    assert.equal(stats.get('http.web.downstream_rq_active'), 0);
    assert.equal(stats.get('http.web.downstream_rq_total'), 2);
    assert.equal(stats.get('http.web.downstream_rq_completed'), 1);
  });

  it('keep the body, but for 303, which makes a GET', async () => {
    const post = (status: number): string =>
      `POST /to/${status}/${encodeURIComponent('http://known.test/new')} HTTP/1.1\r\n` +
      'host: h.test\r\ncontent-length: 4\r\n\r\nbody';
    const kept = await exchange({}, post(302));
    assert.match(kept.answer, /got POST \/new body\./);
    const dropped = await exchange({}, post(303));
    assert.match(dropped.answer, /got GET \/new \./);
    assert.equal(dropped.requests[1]?.headers['content-length'], undefined);
  });

  it('bring headers of the response into the new request', async () => {
    const { requests } = await exchange(
      { responseHeadersToCopy: ['x-token', 'x-missing'] },
      get(302, 'http://known.test/', 'x-token: mine\r\nx-missing: mine\r\n'),
    );
    assert.equal(requests[1]?.headers['x-token'], 'up');
    assert.equal(requests[1].headers['x-missing'], undefined);
  });

  const passedOn: readonly [string, Partial<InternalRedirect>, string, string][] = [
    ['a location that is not absolute', {}, get(302, '/new'), 'bad_location'],
    ['another scheme', {}, get(302, 'https://known.test/'), 'unsafe_scheme'],
    [
      'one too many',
      {},
      get(302, `http://known.test/to/302/${encodeURIComponent('http://h.test/')}`),
      'too_many_redirects',
    ],
    ['a target without a route', {}, get(302, 'http://unknown.test/'), 'no_route'],
    [
      'a route that is not on the list',
      { predicates: [{ kind: 'allow_listed_routes', routeNames: ['other'] }] },
      get(302, 'http://known.test/'),
      'predicate',
    ],
    [
      'a way that was taken before',
      { maxRedirects: 9, predicates: [{ kind: 'previous_routes' }] },
      get(302, `http://known.test/to/302/${encodeURIComponent('http://h.test/')}`),
      'predicate',
    ],
    [
      'a scheme that is no safer',
      { allowCrossScheme: true, predicates: [{ kind: 'safe_cross_scheme' }] },
      get(302, 'https://known.test/'),
      'predicate',
    ],
  ];
  for (const [title, policy, request, counter] of passedOn) {
    it(`are passed on for ${title}`, async () => {
      const { answer, stats } = await exchange(policy, request);
      assert.match(answer, /^HTTP\/1\.1 302 [^]*redirect/);
      assert.equal(stats.get(`http.web.passthrough_internal_redirect_${counter}`), 1);
      assert.equal(stats.get('cluster.up.upstream_internal_redirect_failed_total'), 1);
    });
  }

  it('leave other codes alone', async () => {
    const { answer, stats } = await exchange({}, get(301, 'http://known.test/'));
    assert.match(answer, /^HTTP\/1\.1 301 /);
    assert.equal(stats.get('cluster.up.upstream_internal_redirect_failed_total') ?? 0, 0);
  });
});
