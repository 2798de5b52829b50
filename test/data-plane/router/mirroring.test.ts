/** Mirrored requests: what a mirror gets, and that it never changes what the client gets. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestMirrorPolicy } from '../../../shared/resources/routes/route.ts';
import { cluster, host, startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { prefix, route, toCluster } from '../../support/parts/routes.ts';
import { startHttpUpstream, startRawUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const MIRROR: RequestMirrorPolicy = { cluster: 'mirror', disableShadowHostSuffixAppend: false };

async function planeWith(upstreamPort: number, mirrorPort: number, policies = [MIRROR]) {
  return startDataPlane({
    upstreamPorts: [upstreamPort],
    routes: [route(prefix('/'), toCluster({ mirrorPolicies: policies }))],
    updates: [
      { op: 'put_cluster', cluster: cluster('mirror') },
      {
        op: 'put_hosts',
        hosts: { cluster: 'mirror', hosts: [host(mirrorPort)], overprovisioningFactor: 140 },
      },
    ],
  });
}

describe('request mirroring', () => {
  it('sends the whole request to the mirror as a request of its own', async () => {
    await using upstream = await startHttpUpstream();
    await using mirror = await startHttpUpstream();
    await using plane = await planeWith(upstream.port, mirror.port);
    const client = await openRaw(plane.port);
    client.send('POST /a?b HTTP/1.1\r\nhost: h.test:8080\r\ncontent-length: 5\r\n\r\nbytes');
    await client.until('hello');
    await waitUntil('the mirror', () => mirror.requests[0]?.body === 'bytes');
    const [seen] = mirror.requests;
    assert.equal(seen?.path, '/a?b');
    assert.equal(seen.headers.host, 'h.test-shadow:8080');
    assert.equal(seen.headers['x-envoy-internal'], 'true');
    assert.equal(seen.headers['x-request-id'], upstream.requests[0]?.headers['x-request-id']);
    assert.equal(upstream.requests[0]?.headers.host, 'h.test:8080');
    await waitUntil(
      'the mirror',
      () => plane.stats().get('cluster.mirror.internal.upstream_rq_200') === 1,
    );
    assert.equal(plane.stats().get('http.async-client.rq_total'), 1);
    assert.equal(plane.stats().get('http.web.downstream_rq_total'), 1);
    assert.equal(plane.stats().get(`host.mirror.127.0.0.1:${mirror.port}.rq_success`), 1);
    client.destroy();
  });

  it('keeps the name where the policy says so, and mirrors a share of requests only', async () => {
    await using upstream = await startHttpUpstream();
    await using mirror = await startHttpUpstream();
    const never = { ...MIRROR, fraction: { numerator: 0, denominator: 100 } as const };
    const policies = [never, { ...MIRROR, disableShadowHostSuffixAppend: true }];
    await using plane = await planeWith(upstream.port, mirror.port, policies);
    const client = await openRaw(plane.port);
    client.send('GET / HTTP/1.1\r\nhost: h.test\r\n\r\n');
    await client.until('hello');
    await waitUntil('the mirror', () => plane.stats().get('cluster.mirror.upstream_rq_200') === 1);
    assert.deepEqual(
      mirror.requests.map(({ headers }) => headers.host),
      ['h.test'],
    );
    client.destroy();
  });

  it('changes headers and the name as the policy says', async () => {
    await using upstream = await startHttpUpstream();
    await using mirror = await startHttpUpstream();
    const option = {
      name: 'x-b',
      format: 'v-%REQ(:PATH)%',
      appendAction: 'APPEND_IF_EXISTS_OR_ADD',
      keepEmptyValue: false,
    } as const;
    const requestMutations = [
      { kind: 'remove', name: 'x-a' },
      { kind: 'append', option },
    ] as const;
    const policies = [{ ...MIRROR, hostRewriteLiteral: 'new.test', requestMutations }];
    await using plane = await planeWith(upstream.port, mirror.port, policies);
    const client = await openRaw(plane.port);
    client.send('GET /m HTTP/1.1\r\nhost: h.test\r\nx-a: 1\r\n\r\n');
    await client.until('hello');
    await waitUntil('the mirror', () => mirror.requests.length === 1);
    const headers = mirror.requests[0]?.headers ?? {};
    assert.deepEqual(
      [headers.host, headers['x-a'], headers['x-b']],
      ['new.test', undefined, 'v-/m'],
    );
    const own = upstream.requests[0]?.headers ?? {};
    assert.deepEqual([own.host, own['x-a'], own['x-b']], ['h.test', '1', undefined]);
    client.destroy();
  });

  it('answers the client although the mirror breaks, and counts the failure there', async () => {
    await using upstream = await startHttpUpstream();
    await using mirror = await startRawUpstream((socket) => {
      socket.on('data', () => socket.destroy());
    });
    await using plane = await planeWith(upstream.port, mirror.port);
    const client = await openRaw(plane.port);
    client.send('GET / HTTP/1.1\r\nhost: h.test\r\n\r\n');
    assert.match(await client.until('hello'), /^HTTP\/1\.1 200 /);
    await waitUntil('the mirror', () => plane.stats().get('cluster.mirror.upstream_rq_503') === 1);
    assert.equal(plane.stats().get('cluster.mirror.upstream_rq_active'), 0);
    assert.equal(plane.stats().get(`host.mirror.127.0.0.1:${mirror.port}.rq_error`), 1);
    client.destroy();
  });

  it('gives a mirror up whose request the client did not finish', async () => {
    await using upstream = await startHttpUpstream(() => undefined);
    await using mirror = await startHttpUpstream(() => undefined);
    await using plane = await planeWith(upstream.port, mirror.port);
    const client = await openRaw(plane.port);
    client.send('POST / HTTP/1.1\r\nhost: h.test\r\ncontent-length: 10\r\n\r\nhalf');
    await waitUntil(
      'the mirror',
      () => mirror.requests.length === 1 && upstream.requests.length === 1,
    );
    client.destroy();
    await waitUntil(
      'the mirror',
      () => plane.stats().get('cluster.mirror.upstream_cx_active') === 0,
    );
    assert.equal(plane.stats().get('cluster.mirror.upstream_rq_active'), 0);
  });
});
