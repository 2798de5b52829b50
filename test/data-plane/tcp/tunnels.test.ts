/** CONNECT through a worker's data plane: ended here, sent on, and refused. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UpgradeConfig } from '../../../shared/resources/routes/route.ts';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { prefix, route, toCluster } from '../../support/parts/routes.ts';
import { startRawUpstream } from '../../support/peers/upstream.ts';

const CONNECT = 'CONNECT far.test:443 HTTP/1.1\r\nhost: far.test:443\r\n\r\n';
const manager = { upgrades: [{ type: 'connect', enabled: true }] };

function tunnelRoute(upgrade: Partial<UpgradeConfig> = {}) {
  const upgrades = [
    { type: 'connect', enabled: true, terminateConnect: true, allowPost: false, ...upgrade },
  ];
  return route({ kind: 'connect' }, toCluster({ upgrades }));
}

/** Gives back what it gets, with `up:` before it. */
async function echo() {
  return startRawUpstream((socket) => {
    socket.on('data', (piece) => socket.write(`up:${piece.toString('latin1')}`));
  });
}

describe('CONNECT', () => {
  it('becomes plain bytes where the route ends it here', async () => {
    await using upstream = await echo();
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager,
      routes: [tunnelRoute()],
    });
    const client = await openRaw(plane.port);
    client.send(CONNECT);
    assert.match(
      await client.until('\r\n\r\n'),
      /^HTTP\/1\.1 200 OK\r\ndate: [^\r]+\r\nserver: envoy\r\n\r\n$/,
    );
    client.send('hello');
    assert.match(await client.until('up:hello'), /up:hello$/);
    assert.equal(upstream.received[0], 'hello');
    assert.equal(plane.stats().get('http.web.downstream_cx_upgrades_active'), 1);
    client.destroy();
    await client.closed();
  });

  it('passes on what the client sent before the answer', async () => {
    await using upstream = await echo();
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager,
      routes: [tunnelRoute()],
    });
    const client = await openRaw(plane.port);
    client.send(`${CONNECT}early`);
    assert.match(await client.until('up:early'), /\r\n\r\nup:early$/);
    client.destroy();
  });

  it('ends towards the client when the upstream ends', async () => {
    await using upstream = await startRawUpstream((socket) => socket.end('bye'));
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager,
      routes: [tunnelRoute()],
    });
    const client = await openRaw(plane.port);
    client.send(CONNECT);
    await client.until('bye');
    await client.closed();
    const stats = plane.stats();
    assert.equal(stats.get('http.web.downstream_rq_active'), 0);
    assert.equal(stats.get('http.web.downstream_cx_upgrades_active'), 0);
    assert.equal(stats.get('cluster.up.upstream_cx_active'), 0);
    assert.equal(stats.get('cluster.up.upstream_rq_active'), 0);
  });

  it('goes to the upstream as it came where the route does not end it', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 Fine\r\n\r\nfirst'));
    });
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager,
      routes: [tunnelRoute({ terminateConnect: false })],
    });
    const client = await openRaw(plane.port);
    client.send(CONNECT);
    assert.match(await client.until('first'), /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nfirst$/);
    assert.match(
      upstream.received[0] ?? '',
      /^CONNECT far\.test:443 HTTP\/1\.1\r\nhost: far\.test:443\r\n/,
    );
    client.destroy();
  });

  it('is answered 503 when its upstream cannot be reached', async () => {
    await using gone = await echo();
    const { port } = gone;
    await gone.close();
    await using plane = await startDataPlane({
      upstreamPorts: [port],
      manager,
      routes: [tunnelRoute()],
    });
    const client = await openRaw(plane.port);
    client.send(CONNECT);
    assert.match(await client.until('failure'), /^HTTP\/1\.1 503 /);
    client.destroy();
  });

  const refused = [
    {
      title: 'with a body',
      request: CONNECT.replace('\r\n\r\n', '\r\ncontent-length: 1\r\n\r\nx'),
      status: 400,
    },
    {
      title: 'with a coding',
      request: CONNECT.replace('\r\n\r\n', '\r\ntransfer-encoding: chunked\r\n\r\n'),
      status: 501,
    },
    { title: 'without a port', request: CONNECT.replaceAll(':443', ''), status: 400 },
    {
      title: 'with a port that there is not',
      request: CONNECT.replaceAll(':443', ':99999'),
      status: 400,
    },
    { title: 'with a user', request: CONNECT.replace('far.test', 'a:b@far.test'), status: 400 },
  ];
  for (const { title, request, status } of refused) {
    it(`is refused ${status} ${title}`, async () => {
      await using plane = await startDataPlane({ manager, routes: [tunnelRoute()] });
      const client = await openRaw(plane.port);
      client.send(request);
      assert.match(await client.until('\r\n\r\n'), new RegExp(`^HTTP/1\\.1 ${status} `));
      await client.closed();
    });
  }

  it('is refused 403 where the route switches it off, and 404 without a route for it', async () => {
    await using plane = await startDataPlane({
      manager,
      routes: [tunnelRoute({ enabled: false })],
    });
    const client = await openRaw(plane.port);
    client.send(CONNECT);
    assert.match(await client.until('\r\n\r\n'), /^HTTP\/1\.1 403 /);
    client.destroy();
    await using other = await startDataPlane({
      manager,
      routes: [route(prefix('/'), toCluster())],
    });
    const second = await openRaw(other.port);
    second.send(CONNECT);
    assert.match(await second.until('\r\n\r\n'), /^HTTP\/1\.1 404 /);
    second.destroy();
  });

  it('may be a POST, whose body goes as plain bytes and whose answer is a message', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.on('data', (piece) => socket.end(`up:${piece.toString('latin1')}`));
    });
    const upgrades = [{ type: 'connect', enabled: true, terminateConnect: true, allowPost: true }];
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager,
      routes: [route(prefix('/'), toCluster({ upgrades }))],
    });
    const client = await openRaw(plane.port);
    client.send('POST /t HTTP/1.1\r\nhost: h\r\ncontent-length: 3\r\n\r\nabc');
    assert.match(
      await client.until('0\r\n\r\n'),
      /\r\ntransfer-encoding: chunked\r\n\r\n6\r\nup:abc\r\n0\r\n\r\n$/,
    );
    assert.equal(upstream.received[0], 'abc');
    client.destroy();
  });
});
