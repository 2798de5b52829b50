/**
 * Drains that are watched to their end: our own parameters of `/drain_listeners`, by the whole
 * program.
 */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { GREETING, bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const direct = bootstrap({ listeners: [httpListener(GREETING)] });
const GET = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';

interface Status {
  readonly server_state: string;
  readonly open: number;
  readonly listeners: readonly {
    readonly name: string;
    readonly state: string;
    readonly open: number;
    readonly idle: number;
    readonly active: number;
    readonly streams: number;
    readonly percent: number;
    readonly deadline_s?: number;
  }[];
}

async function statusOf(sluice: Sluice): Promise<Status> {
  return JSON.parse((await sluice.admin('/drain_status')).body) as Status;
}

function drain(sluice: Sluice, query: string) {
  return sluice.admin({ path: `/drain_listeners?${query}`, method: 'POST' });
}

// They wait for deadlines, so they wait together.
describe('a drain with parameters of our own', { concurrency: 3 }, () => {
  it('answers with wait when the last connection is gone, and says DRAINING meanwhile', async () => {
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 2 });
    const port = await sluice.listenerPort('web');
    const idle = await openRaw(port);
    idle.send(GET);
    await idle.until('hi');
    const before = await statusOf(sluice);
    assert.deepEqual(before, {
      server_state: 'LIVE',
      is_complete: true,
      open: 1,
      idle: 1,
      active: 0,
      streams: 0,
      listeners: [
        { name: 'web', state: 'serving', open: 1, idle: 1, active: 0, streams: 0, percent: 0 },
      ],
    });
    const drained = drain(sluice, 'graceful&wait&max=20');
    const during = await waitUntil('the drain', async () => {
      const status = await statusOf(sluice);
      return status.listeners[0]?.state === 'draining' ? status : undefined;
    });
    assert.equal(during.server_state, 'DRAINING');
    assert.equal(during.listeners[0]?.percent, 0);
    assert.ok((during.listeners[0]?.deadline_s ?? 0) > 15);
    assert.equal((await sluice.admin('/ready')).status, 503);
    // The admin interface's own connections are open all the while, and are not waited for.
    idle.destroy();
    assert.deepEqual((await drained).body, 'OK\n');
    assert.equal((await statusOf(sluice)).listeners[0]?.state, 'drained');
    await assert.rejects(fetchOnce({ port }));
  });

  it('cuts what is open at its deadline, streams too, and ends the server with exit', async () => {
    await using upstream = await startHttpUpstream((_, response) => void response.write('begun'));
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }])],
        clusters: [staticCluster('up', [upstream.port])],
      }),
    });
    const endless = await openRaw(await sluice.listenerPort('web'));
    endless.send(GET);
    await endless.until('begun');
    assert.equal((await statusOf(sluice)).listeners[0]?.streams, 1);
    const answer = await drain(sluice, 'graceful&wait&max=0.5&exit');
    assert.equal(answer.body, 'OK\n1 connections were cut at the deadline\n');
    await endless.closed();
    assert.deepEqual(await sluice.exited(), { code: 0, signal: null });
  });

  it('waits for TCP connections and websockets, and cuts them at its deadline', async () => {
    const echo = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.on('data', (piece) => {
        const isUpgrade = piece.includes('upgrade: websocket');
        const switching = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\n';
        socket.write(isUpgrade ? `${switching}upgrade: websocket\r\n\r\nopen` : 'open');
      });
    });
    const port = await new Promise<number>((resolve) => {
      echo.listen(0, '127.0.0.1', () => resolve((echo.address() as AddressInfo).port));
    });
    const up = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [
          httpListener(up, { hcm: { upgrade_configs: [{ upgrade_type: 'websocket' }] } }),
          filterListener([tcpProxyFilter()]),
        ],
        clusters: [staticCluster('up', [port])],
      }),
      concurrency: 2,
    });
    const websocket = await openRaw(await sluice.listenerPort('web'));
    const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\n';
    websocket.send(`GET / HTTP/1.1\r\nhost: a\r\n${upgrade}\r\n`);
    await websocket.until('open');
    const tcp = await openRaw(await sluice.listenerPort('tcp'));
    tcp.send('hello');
    await tcp.until('open');
    const drained = drain(sluice, 'graceful&wait&max=3');
    await waitUntil('two open connections', async () => {
      const { open, listeners } = await statusOf(sluice);
      return open === 2 && listeners.every(({ state }) => state === 'draining');
    });
    websocket.send('more');
    await websocket.until(/open.*open/s);
    assert.equal((await drained).body, 'OK\n2 connections were cut at the deadline\n');
    await Promise.all([websocket.closed(), tcp.closed()]);
    echo.close();
  });

  it('closes idle connections early on request', async () => {
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 2 });
    const idle = await openRaw(await sluice.listenerPort('web'));
    idle.send(GET);
    await idle.until('hi');
    assert.equal((await drain(sluice, 'graceful&wait&close_idle=0&max=20')).body, 'OK\n');
    await idle.closed(15_000);
    assert.equal(await sluice.stat('http.web.downstream_cx_drain_close'), 1);
  });

  it('is undone as long as no listener was closed', async () => {
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 2 });
    const port = await sluice.listenerPort('web');
    const undrain = { path: '/undrain_listeners', method: 'POST' };
    assert.deepEqual((await sluice.admin(undrain)).body, 'nothing is draining\n');
    const kept = await openRaw(port);
    const waiting = drain(sluice, 'graceful&wait&min=60&max=60');
    await waitUntil('DRAINING', async () => (await sluice.admin('/ready')).status === 503);
    assert.equal((await sluice.admin(undrain)).body, 'OK\n');
    assert.equal((await waiting).status, 409);
    assert.equal((await sluice.admin('/ready')).body, 'LIVE\n');
    kept.send(GET);
    assert.doesNotMatch(await kept.until('hi'), /connection: close/);
    kept.destroy();
    assert.equal((await drain(sluice, 'wait')).body, 'OK\n');
    const late = await sluice.admin(undrain);
    assert.equal(late.status, 409);
    assert.match(late.body, /listeners are closed: web/);
  });

  it('concerns one listener when it is named', async () => {
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(GREETING), httpListener(GREETING, { name: 'other' })],
      }),
    });
    const port = await sluice.listenerPort('other');
    assert.equal((await drain(sluice, 'listener=web&wait')).body, 'OK\n');
    const states = (await statusOf(sluice)).listeners.map(({ state }) => state);
    assert.deepEqual(states, ['drained', 'serving']);
    assert.equal((await fetchOnce({ port })).status, 200);
    const unknown = await drain(sluice, 'listener=nothing');
    assert.deepEqual([unknown.status, unknown.body], [409, 'no listener nothing\n']);
  });

  it('streams its progress as events', async () => {
    await using sluice = await startSluice({ bootstrap: direct });
    const client = await openRaw(sluice.adminPort);
    client.send('GET /drain_status?format=stream HTTP/1.1\r\nhost: a\r\n\r\n');
    const seen = await client.until(/data: .*\n\n[^]*data: .*\n\n/);
    assert.match(seen, /content-type: text\/event-stream/);
    assert.match(seen, /"listeners":\[{"name":"web","state":"serving"/);
    client.destroy();
  });

  it('is refused with the reason when its parameters make no sense', async () => {
    await using sluice = await startSluice({ bootstrap: direct });
    for (const [query, reason] of [
      ['wait&skip_exit', /skip_exit cannot be used together/],
      ['min=abc', /min needs a number of seconds/],
      ['min=5&max=2', /max cannot be below min/],
      ['listener=', /listener needs the name/],
    ] as const) {
      const answer = await drain(sluice, query);
      assert.equal(answer.status, 400, query);
      assert.match(answer.body, reason);
    }
    assert.equal((await sluice.admin('/ready')).body, 'LIVE\n');
  });
});
