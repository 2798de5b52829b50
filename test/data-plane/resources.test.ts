/** Resources that come, change and go while traffic passes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cluster, host, startDataPlane } from '../support/parts/data-plane.ts';
import { openRaw } from '../support/peers/raw-client.ts';
import {
  direct,
  prefix,
  route,
  routeConfiguration,
  toCluster,
  virtualHost,
} from '../support/parts/routes.ts';
import { startHttpUpstream } from '../support/peers/upstream.ts';
import { waitUntil } from '../support/wait.ts';

const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

describe('an update of resources', () => {
  it('of hosts sends later requests to the new ones and keeps figures of those that stay', async () => {
    await using first = await startHttpUpstream((_, response) => response.end('first'));
    await using second = await startHttpUpstream((_, response) => response.end('second'));
    await using plane = await startDataPlane({ upstreamPorts: [first.port] });
    const client = await openRaw(plane.port);
    client.send(GET);
    await client.until('first');
    await plane.plane.apply([
      {
        op: 'put_hosts',
        hosts: { cluster: 'up', hosts: [host(second.port)], overprovisioningFactor: 140 },
      },
    ]);
    client.send(GET);
    await client.until('second');
    await waitUntil('the connection to the removed host closed', () => {
      return plane.stats().get('cluster.up.upstream_cx_active') === 1;
    });
    assert.equal(plane.stats().get('cluster.up.upstream_cx_total'), 2);
    client.destroy();
  });

  it('of a cluster keeps its hosts', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    await plane.plane.apply([
      { op: 'put_cluster', cluster: cluster('up', { connectTimeoutMs: 2000 }) },
    ]);
    const client = await openRaw(plane.port);
    client.send(GET);
    await client.until('hello');
    client.destroy();
  });

  it('that removes a cluster leads to an answer of its own', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    await plane.plane.apply([{ op: 'remove_cluster', name: 'up' }]);
    const client = await openRaw(plane.port);
    client.send(GET);
    assert.match(await client.until('\r\n\r\n'), /^HTTP\/1\.1 503 Service Unavailable\r\n/);
    assert.equal(plane.stats().get('http.web.no_cluster'), 1);
    client.destroy();
  });

  it('of a named route configuration is in force with the next request', async () => {
    const named = (body: string) =>
      ({
        op: 'put_route_configuration',
        key: 'rds',
        routes: routeConfiguration(
          [virtualHost([route(prefix('/'), direct({ body: Buffer.from(body) }))])],
          { name: 'rds' },
        ),
      }) as const;
    await using plane = await startDataPlane({
      manager: { routes: { kind: 'named', name: 'rds' } },
    });
    const client = await openRaw(plane.port);
    client.send(GET);
    assert.match(await client.until('\r\n\r\n'), /^HTTP\/1\.1 404 Not Found\r\n/);
    await plane.plane.apply([named('one')]);
    client.send(GET);
    await client.until('one');
    await plane.plane.apply([named('two')]);
    client.send(GET);
    await client.until('two');
    client.destroy();
  });

  it('of a listener serves new connections; open ones keep the version they began with', async () => {
    await using plane = await startDataPlane({
      routes: [route(prefix('/'), direct({ body: Buffer.from('old') }))],
    });
    const before = await openRaw(plane.port);
    before.send(GET);
    await before.until('old');
    plane.replaceListener({ routes: [route(prefix('/'), direct({ body: Buffer.from('new') }))] });
    const after = await openRaw(plane.port);
    after.send(GET);
    await after.until('new');
    before.send(GET);
    await before.until(/old.*old/s);
    before.destroy();
    after.destroy();
  });

  it('that cannot be applied changes nothing', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const limits = { anyText: 100, oneLine: 100 };
    const bad = { pattern: '(', source: '(', whole: limits, part: limits, program: '' };
    const routes = routeConfiguration([
      virtualHost([route({ kind: 'regex', regex: bad }, toCluster())]),
    ]);
    assert.throws(() => {
      void plane.plane.apply([
        { op: 'remove_cluster', name: 'up' },
        { op: 'put_route_configuration', key: 'rds', routes },
      ]);
    });
    const client = await openRaw(plane.port);
    client.send(GET);
    await client.until('hello');
    client.destroy();
  });
});
