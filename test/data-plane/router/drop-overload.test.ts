/** Requests that an assignment wants dropped: answered by the router before a host is asked for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DropOverload } from '../../../shared/resources/clusters/cluster.ts';
import type { ResourceUpdate } from '../../../shared/resources/resource-update.ts';
import { host, startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';

const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

function dropping(ports: readonly number[], share: number): readonly ResourceUpdate[] {
  const dropOverload: DropOverload = { category: 'c', share };
  const hosts = ports.map((port) => host(port));
  const set = { cluster: 'up', hosts, overprovisioningFactor: 140 };
  return [{ op: 'put_hosts', hosts: share === 0 ? set : { ...set, dropOverload } }];
}

describe('a share of requests to be dropped', () => {
  it('of all answers even where there is no host, and counts as an answer of the cluster', async () => {
    await using plane = await startDataPlane({ updates: dropping([], 1) });
    const client = await openRaw(plane.port);
    client.send(GET);
    const answer = await client.until('unconditional drop overload');
    client.destroy();
    assert.match(answer, /^HTTP\/1\.1 503 Service Unavailable\r\n/);
    assert.match(answer, /\r\nx-envoy-unconditional-drop-overload: true\r\n/);
    const stats = plane.stats();
    assert.equal(stats.get('cluster.up.upstream_rq_503'), 1);
    assert.equal(stats.get('cluster.up.external.upstream_rq_503'), 1);
    assert.equal(stats.get('cluster.up.upstream_cx_none_healthy') ?? 0, 0);
  });

  it('of nearly all says that it is not unconditional', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({
      updates: dropping([upstream.port], 1 - Number.EPSILON),
    });
    const client = await openRaw(plane.port);
    client.send(GET);
    const answer = await client.until('\r\n\r\ndrop overload');
    client.destroy();
    assert.match(answer, /\r\nx-envoy-drop-overload: true\r\n/);
    assert.equal(plane.stats().get('cluster.up.upstream_rq_total') ?? 0, 0);
  });

  it('is taken away by a later set of hosts', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({ updates: dropping([upstream.port], 1) });
    const client = await openRaw(plane.port);
    client.send(GET);
    await client.until('unconditional drop overload');
    await plane.plane.apply(dropping([upstream.port], 0));
    client.send(GET);
    await client.until('hello');
    client.destroy();
  });
});
